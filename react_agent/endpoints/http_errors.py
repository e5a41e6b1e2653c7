"""What to do about an error of an endpoint: its class, from the status, the body and the headers of a reply.

The order of RULES is the knowledge: what a server means is in its words, and only where those are silent in its status.
A 500 may be a chat template that refuses our roles, a 429 may never end by waiting, a 200 may be an error.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from react_agent.endpoints.http_fault import Fault, any_of, read_fault
from react_agent.endpoints.http_overflow import is_overflow, overflow_numbers
from react_agent.endpoints.http_parameters import is_missing, parameter_advice
from react_agent.endpoints.http_retry import asked_wait
from react_agent.errors import EndpointErrorKind

ErrorName = Literal[
    "ok", "retry", "fatal", "context_overflow", "drop_parameter", "rename_parameter", "bad_parameter", "role_template",
    "content_filter", "model_text_in_error",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """What an error is. Each of the middle fields is None unless the class has it.

    parameter, rename_to: of drop, rename and bad_parameter. limit, used: tokens; for bad_parameter, limit is the largest value
    that the parameter may have. wait_s: how long the server asks to wait. kind: of the EndpointError if nothing else helps.
    message: the server's own words. text: what the model wrote, for model_text_in_error. loading: the server is starting up.
    unsure: context_overflow was only guessed, from an error without any words.
    """

    name: ErrorName
    message: str = ""
    kind: EndpointErrorKind = "bad_request"
    parameter: str | None = None
    rename_to: str | None = None
    limit: int | None = None
    used: int | None = None
    wait_s: float | None = None
    text: str = ""
    loading: bool = False
    unsure: bool = False


_TEMPLATE = any_of(
    r"jinja", r"template[ _]error", r"error rendering prompt", r"chat[ _]template",
    r"roles? must (?:strictly )?alternate", r"must alternate", r"alternate between", r"alternate with", r"(?:should|must) interleave",
    r"successive user or assistant", r"multiple \W{0,2}(?:user|assistant)\W{0,2} roles", r"consecutive .{0,30}(?:messages|roles)",
    r"(?:system|developer) (?:role|message|prompt|instruction)s? (?:is |are )?(?:not |un)(?:supported|enabled|allowed)",
    r"(?:does not|doesn't|do not) support .{0,20}(?:system|developer) (?:role|message|prompt|instruction)",
    r"system messages? (?:must|should|can only|may only|is only|are only)",
    r"(?:unexpected|unsupported|invalid|unknown)(?: message)? role", r"\.role\W.{0,20}does not support",
    r"only user\W.{0,12}assistant roles are supported", r"only \W{0,2}user\W{0,2}.{0,30}roles",
    r"(?:conversation|history|chat) must (?:start|begin) with", r"first (?:non-system )?message .{0,60}must (?:be|use|have)",
    r"(?:last|final) message .{0,40}(?:must|should|cannot|has to)", r"expected last role", r"2 or more assistant messages",
    r"(?:multiple|more than one) system messages?", r"no user query found",
    r"non-empty content", r"content (?:blocks |field )?(?:must be non-empty|cannot be empty|must not be empty|is empty)",
)  # fmt: skip
_SCHEMA_FAILURE = any_of(r"json schema", r"schema conversion", r"grammar")
_FILTER_CODES = {
    "content_filter", "content_policy_violation", "responsibleaipolicyviolation", "content_filter_error", "data_inspection_failed",
    "moderation_blocked", "content_blocked", "safety", "prohibited_content",
}  # fmt: skip
_FILTER = any_of(
    r"content[ _](?:management|filter\w*|policy|moderation)", r"usage polic", r"flagged (?:by|for|as)", r"blocked (?:for|as|due)",
    r"\bmoderation\b", r"prompt was blocked", r"inappropriate content", r"content exists risk", r"guardrail",
    r"responsible ai", r"safety (?:system|filter|polic|setting)",
)  # fmt: skip
_AUTH = any_of(
    r"(?:invalid|incorrect|missing|wrong|no|expired|valid|disabled|revoked)[ _](?:x-)?(?:api|access|auth\w*|bearer)[ -_]?(?:key|token)",
    r"api[ _-]?key (?:not|is not|is in|expired|must|required)", r"unauthori[sz]ed", r"authentication (?:failed|required|error|fails)",
    r"not authenticated", r"invalid credentials", r"permission denied", r"access denied", r"(?:security|id) token included in the request",
)  # fmt: skip
_AUTH_CODES = {"no_db_connection"}  # LiteLLM's proxy without a database: it has nowhere to look up a key that is not its master key
_QUOTA_CODES = {
    "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance", "insufficient_credits",
    "billing_error", "payment_required", "account_deactivated", "credits_exhausted",
}  # fmt: skip
_QUOTA = any_of(
    r"insufficient (?:account )?(?:balance|credits?|funds|quota)", r"balance is too low", r"out of credits", r"\bbilling\b",
    r"exceeded your current quota", r"payment required", r"(?:more|no|enough|remaining) credits",
    r"quota (?:has been )?(?:exhausted|exceeded)", r"\brecharge\b", r"\btop[ -]up\b", r"usage limits",
)  # fmt: skip
_LOADING = any_of(
    r"loading model", r"model_loading", r"model \S* ?(?:is )?(?:currently )?(?:still )?loading", r"not ready", r"warming up",
)  # fmt: skip
_TRANSIENT = any_of(
    r"overloaded", r"temporarily", r"(?:try|retry) again (?:later|shortly|in)", r"(?:server|model|service|engine) (?:is )?(?:too )?busy",
    r"queue is full", r"at capacity", r"upstream (?:connect|request|error|time)", r"connection (?:reset|refused)", r"bad gateway",
    r"gateway time", r"service unavailable", r"rate limit", r"too many requests", r"timed? ?out",
)  # fmt: skip
_NO_MODEL = any_of(
    r"model\b.{0,80}(?:not found|does(?:n't| not) exist|not exist|not available|is not supported|no longer|decommissioned|not loaded)",
    r"(?:unknown|invalid|no such|unsupported|incorrect) model", r"no models? (?:loaded|available|found)",
    r"not a valid model", r"model identifier is invalid",
    r"does not support (?:chat|generate|completion|insert|tools)",
)  # fmt: skip
_TRANSIENT_STATUS = {408, 409, 424, 425, 429, 499, 500, 502, 503, 504, 520, 521, 522, 523, 524, 527, 529, 530}
_FATAL_STATUS = {501, 505, 506, 508, 510, 511, 525, 526}


def classify(status: int, body: str, headers: Mapping[str, str], now: float | None = None) -> ErrorClass:
    """The class of a reply. now: seconds since the epoch, for a Retry-After that is a date."""
    lowered = {name.lower(): value for name, value in headers.items()}
    fault = read_fault(status, body, lowered)
    if fault is None:
        return ErrorClass("ok")
    wait_s = asked_wait(lowered, fault.data, fault.text, time.time() if now is None else now)
    for rule in RULES:
        if found := rule(fault, wait_s):
            return found
    return _by_status(fault, wait_s, lowered.get("x-should-retry", "").lower())


def _page(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    """Something else than JSON where a reply should be: a login page, a stranger's server; JSON that was cut off may come whole."""
    if fault.status >= 400 or fault.data or fault.empty or _TRANSIENT.search(fault.text):
        return None
    return ErrorClass("retry" if fault.cut else "fatal", fault.message, "bad_response")


def _model_text(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    error = fault.data.get("error")
    text = error.get("failed_generation") if isinstance(error, dict) else None
    return ErrorClass("model_text_in_error", fault.message, "bad_response", text=text) if isinstance(text, str) and text.strip() else None


def _filtered(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    in_words = fault.status in (400, 403, 422, 451) and not fault.html and _FILTER.search(fault.text)
    if _FILTER_CODES & fault.codes or in_words:
        return ErrorClass("content_filter", fault.message, "content_filter")
    return None


def _quota(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    waits = wait_s is not None or "resource_exhausted" in fault.codes
    in_words = fault.status in (400, 403, 429, 500) and not waits and _QUOTA.search(fault.text)
    return ErrorClass("fatal", fault.message, "quota") if fault.status == 402 or _QUOTA_CODES & fault.codes or in_words else None


def _auth(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    told = fault.status in (401, 403, 407, 498) or _AUTH_CODES & fault.codes
    return ErrorClass("fatal", fault.message, "auth") if told or (fault.status in (400, 500) and _AUTH.search(fault.text)) else None


def _overflow(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    if (fault.empty and fault.status in (400, 413)) or fault.status == 413 or is_overflow(fault.text, fault.codes):
        limit, used = overflow_numbers(fault.text, fault.data)
        return ErrorClass("context_overflow", fault.message, "context_overflow", limit=limit, used=used, unsure=fault.empty)
    return None


def _roles(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    if fault.status in (429, 503) or not _TEMPLATE.search(fault.text) or "prefill" in fault.text.lower():
        return None
    if _SCHEMA_FAILURE.search(fault.text) and "jinja" not in fault.text.lower():
        return None
    return ErrorClass("role_template", fault.message)


def _not_found(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    return ErrorClass("fatal", fault.message, "not_found") if fault.status == 404 and not _TRANSIENT.search(fault.text) else None


def _no_model(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    in_words = fault.status in (400, 403, 422, 500) and _NO_MODEL.search(fault.text)
    if in_words or {"model_not_found", "notfounderror"} & fault.codes:
        return ErrorClass("fatal", fault.message, "not_found")
    return None


def _parameter(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    advice = parameter_advice(fault)
    if advice is None:
        return None
    if is_missing(fault) and advice.parameter is None:
        return ErrorClass("fatal", fault.message)
    return ErrorClass(advice.verdict, fault.message, parameter=advice.parameter, rename_to=advice.rename_to, limit=advice.limit)


def _missing(fault: Fault, wait_s: float | None) -> ErrorClass | None:
    return ErrorClass("fatal", fault.message) if fault.status in (400, 422, 500) and is_missing(fault) else None


Rule = Callable[[Fault, float | None], ErrorClass | None]
RULES: tuple[Rule, ...] = (_page, _model_text, _filtered, _quota, _overflow, _auth, _roles, _not_found, _parameter, _no_model, _missing)


def _by_status(fault: Fault, wait_s: float | None, should_retry: str) -> ErrorClass:
    loading = _LOADING.search(fault.text) is not None
    transient = fault.status in _TRANSIENT_STATUS or (fault.status >= 500 and fault.status not in _FATAL_STATUS)
    transient = transient or fault.status < 400 or loading or (fault.status in (400, 404, 405) and bool(_TRANSIENT.search(fault.text)))
    if should_retry in ("true", "false"):
        transient = should_retry == "true"
    if transient:
        kind: EndpointErrorKind = "rate_limited" if fault.status == 429 else "bad_response" if fault.status < 400 else "server_error"
        return ErrorClass("retry", fault.message, kind, wait_s=wait_s, loading=loading)
    return ErrorClass("fatal", fault.message, "not_found" if fault.status in (404, 405, 410) else "bad_request")


