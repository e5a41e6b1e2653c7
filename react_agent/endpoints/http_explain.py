"""The last word about an error: what happened, in a sentence, and what the operator can do."""

import difflib
from collections.abc import Sequence

from react_agent.endpoints.http_errors import ErrorClass
from react_agent.errors import EndpointError, EndpointErrorKind

MOST_MODELS = 8
_HAPPENED: dict[EndpointErrorKind, str] = {
    "auth": "{where} refused the key",
    "quota": "the account at {where} has nothing left to spend",
    "not_found": "{where} does not have what was asked for",
    "bad_request": "{where} refused the request",
    "context_overflow": "the prompt does not fit the model's window",
    "content_filter": "the content filter of {where} refused the prompt",
    "rate_limited": "{where} asks to slow down",
    "server_error": "{where} failed",
    "bad_response": "{where} did not answer as a model's API does",
    "cancelled": "the call was cancelled",
}
_HELPS: dict[EndpointErrorKind, str] = {
    "auth": "set LLM_API_KEY (or api_key) to a key of this server that may use this model",
    "quota": "top the account up, or use another endpoint",
    "not_found": "check the base URL (it usually ends in /v1) and the model's name",
    "bad_request": "nothing is left that could be dropped from the request; the server's words say what it wants",
    "context_overflow": "ask for less at once, or start the server with a larger window",
    "content_filter": "say it in another way, or use another endpoint",
    "rate_limited": "wait, or give the run more time",
    "server_error": "look into the server's log, or try again later",
    "bad_response": "check the base URL: is this a model's API, and not a login page or a web site?",
    "connection": "check the address, the network, the proxy and the server's log",
    "timeout": "raise timeout_s, or ask for fewer tokens",
    "cancelled": "",
}


def explain(failure: ErrorClass, status: int, where: str, model: str, models: Sequence[str], has_key: bool) -> EndpointError:
    """where: the base URL, safe to show. models: what the server has, where that may be the matter. status: 0 without a reply."""
    kind: EndpointErrorKind = "bad_request" if failure.name == "role_template" else failure.kind
    if kind in ("connection", "timeout"):  # its words say all of it
        return EndpointError(kind, failure.message, _HELPS[kind])
    happened = _HAPPENED[kind].format(where=where)
    if kind == "auth" and not has_key:
        happened = f"{where} wants a key"
    code = f" (HTTP {status})" if status >= 400 else ""
    words = f": {' '.join(failure.message.split())[:400]}" if failure.message else ""
    return EndpointError(
        kind, happened + code + words, _model_hint(model, models) or _HELPS[kind], status=status or None,
        limit=failure.limit if kind == "context_overflow" else None, used=failure.used,
    )  # fmt: skip


def _model_hint(model: str, models: Sequence[str]) -> str:
    """The names nearest to the one that was asked for, then the others."""
    if not models or model in models:
        return ""
    near = difflib.get_close_matches(model, models, MOST_MODELS, 0.4)
    names = [*near, *(name for name in models if name not in near)]
    more = f" and {len(names) - MOST_MODELS} more" if len(names) > MOST_MODELS else ""
    asked = f"there is no model {model!r} here" if model else "no model was named"
    return f"{asked}; the server has {', '.join(names[:MOST_MODELS])}{more}"
