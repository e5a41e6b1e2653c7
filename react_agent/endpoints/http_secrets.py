"""Keys: how they are sent, and that they are never shown."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from react_agent.endpoints.http import is_loopback
from react_agent.errors import ConfigError

MASK = "[key]"
SHORTEST_SECRET = 6
_NO_SECRETS = {"ollama", "lm-studio", "no-key", "no-key-required", "sk-no-key-required", "not-needed", "unused", "api-key", "placeholder"}
_LOOKS_LIKE_KEY = re.compile(
    r"\b(?:sk|pk|gsk|xai|hf|key)[-_][A-Za-z0-9_*.-]{6,}|\bAIza[A-Za-z0-9_*-]{10,}|\b[Bb]earer\s+[A-Za-z0-9_*.+/=-]{8,}"
)
_SAFE_HEADERS = {"content-type", "accept", "user-agent", "accept-encoding", "http-referer", "x-title", "anthropic-version"}
_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")


@dataclass(frozen=True, slots=True)
class Secrets:
    """The headers that open an endpoint, and every value that must not appear anywhere."""

    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    values: tuple[str, ...] = field(default=(), repr=False)

    @property
    def has_key(self) -> bool:
        return bool(self.values)

    def masked(self, text: str) -> str:
        """text without our secrets, and without what looks like a key: servers repeat the key they refuse, half masked."""
        for value in self.values:
            text = text.replace(value, MASK)
        return _LOOKS_LIKE_KEY.sub(MASK, text)

    def masked_values(self, value: Any) -> Any:
        """A JSON value with the same done to every text in it."""
        if isinstance(value, str):
            return self.masked(value)
        if isinstance(value, Mapping):
            return {self.masked(name): self.masked_values(inner) for name, inner in value.items()}
        return [self.masked_values(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def secrets_of(url: str, api_key: str | None, key_header: str | None, headers: Mapping[str, str]) -> Secrets:
    """The headers for a URL. key_header: where the key goes as it is; None sends it as a Bearer token, or as Azure wants it."""
    sent = dict(headers)
    parts = urlsplit(url)
    if parts.username or parts.password:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        sent.setdefault("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    values = {unquote(parts.password or ""), *(value for name, value in sent.items() if name.lower() not in _SAFE_HEADERS)}
    values |= {value.rpartition(" ")[2] for value in values}  # the key without the word Bearer
    values |= {value.partition("=")[2] for value in parts.query.split("&") if re.match("(?i)(api[-_]?)?(key|token)=", value)}
    key = (api_key or "").strip()
    if key:
        header = key_header or ("api-key" if (parts.hostname or "").endswith(_AZURE) else "Authorization")
        sent[header] = f"Bearer {key}" if header.lower() == "authorization" else key
    _check(sent)
    secret = (value for value in values | {key} if len(value) >= SHORTEST_SECRET and value.lower() not in _NO_SECRETS)
    return Secrets(sent, tuple(sorted(secret, key=len, reverse=True)))


def without_user(url: str) -> str:
    """A URL without the user and the password in it, which travel in a header."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def exposed_key_warning(url: str, secrets: Secrets) -> str | None:
    if secrets.has_key and urlsplit(url).scheme == "http" and not is_loopback(url):
        return f"the key travels unencrypted: {urlsplit(url).hostname} is reached over http://, use https://"
    return None


def _check(headers: Mapping[str, str]) -> None:
    """Refuse what cannot be a header, without showing it."""
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ConfigError(f"{name!r} cannot be the name of a header")
        if not re.fullmatch(r"[\t\x20-\x7e]*", value):
            raise ConfigError(f"the value for the header {name} (or the key) has characters that a header cannot have")
