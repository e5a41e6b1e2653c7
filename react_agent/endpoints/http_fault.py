"""The error in a reply, whatever shape the server gave it: one object, a string, a flat body, FastAPI's detail, an event, HTML."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from react_agent.endpoints.http_stream import sse_events

# A body with one of these and without an error is a reply. "message" is one where it is an object (Ollama, Cohere).
_REPLY_KEYS = {
    "choices", "candidates", "content", "response", "output", "results", "generated_text", "text", "data", "models", "tokens", "usage",
}  # fmt: skip
_TYPE_STATUS = {
    "overloaded_error": 529, "overloaded": 529, "rate_limit_error": 429, "rate_limit_exceeded": 429, "server_error": 500,
    "internal_error": 500, "internalservererror": 500, "timeout_error": 504, "service_unavailable": 503, "invalid_request_error": 400,
    "badrequesterror": 400, "validation": 422, "authentication_error": 401, "permission_error": 403, "billing_error": 402,
    "not_found_error": 404, "request_too_large": 413,
    "invalid_argument": 400, "failed_precondition": 400, "unauthenticated": 401, "permission_denied": 403, "not_found": 404,
    "resource_exhausted": 429, "unavailable": 503, "deadline_exceeded": 504,
}  # fmt: skip
_AWS_STATUS = {
    "throttlingexception": 429, "toomanyrequestsexception": 429, "modelnotreadyexception": 503, "serviceunavailableexception": 503,
    "modeltimeoutexception": 504, "internalserverexception": 500, "modelerrorexception": 424, "modelstreamerrorexception": 424,
    "accessdeniedexception": 403, "unrecognizedclientexception": 401, "expiredtokenexception": 401, "resourcenotfoundexception": 404,
    "servicequotaexceededexception": 402,
}  # fmt: skip
_NOT_JSON = object()
MAX_TEXT = 4000  # characters of an error that are looked at


@dataclass(frozen=True, slots=True)
class Fault:
    """An error, in one shape. status: the one that the error itself names where the reply's own is 200.

    text: everything the server said about it in words, for matching; message: the part for a person. codes: its slugs in
    lower case; param: the parameter it names, root of a path; data: the whole body where it is an object. empty, html, cut (JSON that
    breaks off): what the body is instead.
    """

    status: int
    message: str
    text: str = ""
    codes: frozenset[str] = frozenset()
    param: str = ""
    issues: tuple[Mapping[str, Any], ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    empty: bool = False
    html: bool = False
    cut: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", (self.text or self.message)[:MAX_TEXT])


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern out of several wordings, whatever their case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


def read_fault(status: int, body: str, headers: Mapping[str, str]) -> Fault | None:
    """The error of a reply, None when it holds none. headers: names in lower case."""
    body = body.lstrip("\ufeff").strip()
    if not body:
        return None if status == 204 else Fault(status, f"HTTP {status} with an empty body", empty=True)
    if body.startswith("<"):
        return Fault(status, _page_title(body), text=re.sub(r"<[^>]*>", " ", body[:20000]), html=True)
    objects = list(_objects(body))
    for data in objects:
        if is_error(data, status):
            return _fault(status, data, headers)
    if status < 400:
        cut = body[0] in "{[" and _parsed(body) is _NOT_JSON
        return None if objects else Fault(status, f"no JSON object: {body[:200]}", text=body, cut=cut)
    return Fault(_aws_status(headers) or status, body[:500], text=body)


def is_error(data: Mapping[str, Any], status: int = 200) -> bool:
    """Whether a JSON object is an error rather than (part of) a reply."""
    if says_error(data) or status >= 400:
        return True
    if any(data.get(key) is not None for key in _REPLY_KEYS) or isinstance(data.get("message"), dict):
        return False
    return bool(data.get("detail") or data.get("errors") or data.get("message") or data.get("Message"))


def says_error(data: Mapping[str, Any]) -> bool:
    """Whether a JSON object calls itself an error; others only look like one, as {"message": "text"} does."""
    return bool(data.get("error") or data.get("object") == "error" or data.get("type") == "error" or _feedback_block(data))


def _objects(body: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a body: itself, the elements of a list, the data of its events, or its lines."""
    if body[0] not in "{[":
        yield from (data for event in sse_events([body.encode()]) for data in json_objects(event.data))
        return
    whole = list(json_objects(body))
    yield from whole or (data for line in body.splitlines() for data in json_objects(line))


def json_objects(text: str) -> list[dict[str, Any]]:
    """The object that a JSON text is, or those in the list that it is; none where it is something else."""
    value = _parsed(text)
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NOT_JSON


def _fault(status: int, data: dict[str, Any], headers: Mapping[str, str]) -> Fault:
    error = data.get("error")
    inner: dict[str, Any] = error if isinstance(error, dict) else data
    message, issues = _message(error, inner, data)
    slugs = [inner.get(name) for name in ("type", "code", "status")] + [data.get(name) for name in ("error_type", "code", "__type")]
    innermost = inner.get("innererror")
    if isinstance(innermost, dict):
        slugs.append(innermost.get("code"))
    if _feedback_block(data):
        slugs.append("content_filter")
    codes = frozenset(slug.lower() for slug in slugs if isinstance(slug, str) and slug)
    metadata = inner.get("metadata")
    extra = json.dumps(metadata, default=str) if metadata else ""
    return Fault(
        _status(status, inner, data, codes, headers), message[:500], f"{message} {extra}".strip(), codes,
        _root(inner.get("param")), issues, data,
    )  # fmt: skip


def _message(error: Any, inner: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[str, tuple[Mapping[str, Any], ...]]:
    """The words of an error, and the single issues of a validation error."""
    if isinstance(error, str):
        words = data.get("message")
        return (f"{error}: {words}" if isinstance(words, str) and words and words not in error else error), ()
    candidates = [inner.get(key) for key in ("message", "Message", "detail", "details", "errors", "msg", "title", "reason")]
    for found in (*candidates, data.get("message"), data.get("detail")):
        if isinstance(found, dict):
            found = found.get("detail") or found.get("msg") or found.get("message") or found
        if isinstance(found, str) and found:
            return found, _printed_issues(found)
        if isinstance(found, list) and found:
            issues = tuple(item for item in found if isinstance(item, dict))
            return "; ".join(_issue(item) for item in found), issues
        if found:
            return json.dumps(found, default=str), ()
    block = _feedback_block(data)
    return (f"the prompt was blocked: {block}" if block else json.dumps(data, default=str)), ()


def _printed_issues(text: str) -> tuple[Mapping[str, Any], ...]:
    """A validation error that was printed as Python into a message: [{'type': 'extra_forbidden', 'loc': ('body', 'stop'), ...}]."""
    found = re.finditer(r"'type': '(\w+)', 'loc': \('body', '(\w+)'", text)
    return tuple({"type": match[1], "loc": ("body", match[2])} for match in found)


def _issue(item: Any) -> str:
    if not isinstance(item, dict):
        return str(item)
    where = ".".join(str(part) for part in item.get("loc", ()) if part != "body")
    words = str(item.get("msg") or item.get("message") or item)
    return f"{where}: {words}" if where else words


def _feedback_block(data: Mapping[str, Any]) -> str | None:
    feedback = data.get("promptFeedback")
    reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
    return reason if isinstance(reason, str) else None


def _status(status: int, inner: Mapping[str, Any], data: Mapping[str, Any], codes: frozenset[str], headers: Mapping[str, str]) -> int:
    """The status to judge by. A reply with an error in it but a good status: the one that the error names, else 500."""
    if aws := _aws_status(headers):
        return aws
    if status >= 400:
        return status
    for value in (inner.get("code"), inner.get("status"), inner.get("http_status_code"), data.get("code"), data.get("status")):
        if re.fullmatch("[45][0-9][0-9]", str(value)):
            return int(str(value))
    return next((_TYPE_STATUS[code] for code in sorted(codes) if code in _TYPE_STATUS), 500)


def _aws_status(headers: Mapping[str, str]) -> int | None:
    name = headers.get("x-amzn-errortype", "").split(":")[0].split("#")[-1].lower()
    return _AWS_STATUS.get(name)


def _root(param: Any) -> str:
    """messages[0].content -> messages; some gateways write None as a word."""
    return re.split(r"[.\[/]", param.removeprefix("body."))[0] if isinstance(param, str) and param != "None" else ""


def _page_title(body: str) -> str:
    found = re.search(r"<(title|h1)[^>]*>(.*?)</\1>", body[:20000], re.IGNORECASE | re.DOTALL)
    title = " ".join(found[2].split())[:200] if found else ""
    return f"an HTML page: {title}" if title else "an HTML page"
