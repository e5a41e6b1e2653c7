"""URLs that people copy from anywhere: the server alone, with /v1, or with a whole route."""

from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit


def beside(base_url: str, route: str, known: Sequence[str]) -> str:
    """base_url with route at its end, in place of the first of the known endings that it has; a query stays."""
    parts = urlsplit(base_url)
    path = parts.path.rstrip("/")
    ending = next((ending for ending in known if path.endswith(ending)), "")
    return urlunsplit(parts._replace(path=path.removesuffix(ending) + route))
