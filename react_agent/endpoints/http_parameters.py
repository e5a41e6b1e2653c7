"""Which parameter an error is about, and what to do with it: drop it, rename it, or give it another value."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from react_agent.endpoints.http_fault import Fault, any_of

Verdict = Literal["drop_parameter", "rename_parameter", "bad_parameter"]

CAPS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
# What a request cannot be without: an error that names one of these is not about an option.
ESSENTIAL = {
    "messages", "message", "model", "prompt", "input", "inputs", "contents", "content", "system", "role", "body", "request",
    "tools", "tool",
}  # fmt: skip
CAP_NAMES = {*CAPS, "max_output_tokens", "max_new_tokens", "max_length", "maxTokens", "maxOutputTokens", "num_predict", "n_predict"}
KNOWN = (
    "max_completion_tokens", "max_output_tokens", "max_new_tokens", "max_tokens", "maxOutputTokens", "num_predict", "n_predict",
    "response_format", "structured_outputs", "output_config", "json_schema", "grammar", "responseMimeType", "responseSchema",
    "stream_options", "timings_per_token", "stream",
    "stop_sequences", "stop_sequence", "stopSequences", "stop",
    "temperature", "top_p", "top_k", "topP", "topK", "min_p", "seed", "random_seed", "sampler_seed",
    "frequency_penalty", "presence_penalty", "repeat_penalty", "repetition_penalty", "logit_bias", "logprobs", "top_logprobs",
    "reasoning_effort", "chat_template_kwargs", "enable_thinking", "thinking", "think", "cache_prompt", "user", "metadata", "store",
    "parallel_tool_calls", "tool_choice", "n",
)  # fmt: skip
_ALIASES = {"streaming": "stream", "thinking mode": "think"}
_Q = r"['\"`‘“\[(]{0,2}"
_NAME = r"([A-Za-z_][\w.]*)"
_KNOWN = "|".join(KNOWN)

_UNSUPPORTED = (
    # unsupported parameter: 'stop' / unrecognized request argument supplied: x / Unknown name "x" / unknown field `x`
    rf"(?:un(?:supported|recognized|recognised|known|expected)|unexpected|additional|invalid)\s+(?:request\s+|keyword\s+|input\s+|json\s+)?"
    rf"(?:parameter|argument|field|key|property|name|option)s?(?:\s+supplied)?\s*:?\s*{_Q}{_NAME}",
    # Argument not supported on this model: stop / Extra inputs are not permitted, field: 'x'
    r"(?:argument|parameter|field|input|option)s?\s+(?:is\s+|are\s+)?not\s+(?:supported|allowed|permitted|available)[^:'\"]{0,60}[:,]"
    rf"\s*(?:field:?\s*)?{_Q}{_NAME}",
    rf"additional properties are not allowed \({_Q}{_NAME}",
    # 'stop' is not supported with this model / stop: Extra inputs are not permitted / temperature is deprecated
    rf"{_Q}\b({_KNOWN})\b['\"`’”\])]{{0,2}}(?:\s+(?:parameter|argument|option|field|value))?\s*:?\s*"
    r"(?:(?:is|are|was|does|do|has|have|been)\s+){0,3}"
    r"(?:not\s+(?:currently\s+|yet\s+)?(?:supported|allowed|permitted|recognized|available|enabled|support|compatible|applicable|work)"
    r"|unsupported|deprecated|extra\s+inputs\s+are\s+not\s+permitted|cannot\s+be\s+used|cannot\s+both)",
    # the model does not support the stopSequences field / doesn't support stop
    rf"(?:does\s+not|doesn't|doesn’t|do\s+not|cannot|can't)\s+(?:currently\s+)?support\s+"
    rf"(?:the\s+|setting\s+|custom\s+)?{_Q}({_KNOWN}|streaming)\b",
)
UNSUPPORTED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _UNSUPPORTED)
_INSTEAD = re.compile(rf"(?:use|try|to)\s+{_Q}({'|'.join(sorted(CAP_NAMES))})\b['\"`]*(?:\s+\w+)?\s+(?:instead|for)", re.IGNORECASE)
_QUOTED = re.compile(
    rf"(?:['\"`]|^|\W)({_KNOWN})(?:['\"`]|\s*:|\s*=|\s+(?:must|should|supports|value|is|can|cannot|requires)\b)", re.IGNORECASE,
)  # fmt: skip
_FORM = any_of(
    r"failed to deserialize", r"invalid type", r"type must be", r"type_error", r"parse[_ ]error", r"cannot unmarshal", r"json\.exception",
    r"not of type", r"must be of type", r"input should be a valid", r"is not a valid (?:integer|number|string|list|array|boolean|dict)",
    r"expected an? (?:sequence|string|number|integer|array|list|object|boolean|map)", r"could not parse", r"malformed", r"invalid json",
    r"invalid parameters?\b", r"parameters? (?:is|are) invalid",
)  # fmt: skip
_MISSING = any_of(
    r"\bis required\b", r"field required", r"missing (?:required |a )?(?:field|parameter|property|key|value)",
    r"required (?:field|parameter|property)",
)  # fmt: skip
_CONSTRAINT = any_of(
    r"json[ _]?schema", r"response[_ ]?format", r"json[ _]mode", r"json_object", r"guided[_ ]", r"structured[ _]outputs?",
    r"schema conversion", r"invalid schema", r"xgrammar", r"outlines", r"lm-format-enforcer", r"response_?schema", r"response_?mime_?type",
)  # fmt: skip
_CAP_IN_WORDS = any_of(
    r"maximum tokens you requested", r"max(?:imum)?[ _](?:output|completion|new)[ _]tokens?\b", r"too many output tokens",
)  # fmt: skip
_GRAMMAR = any_of(r"\bgrammar\b", r"gbnf")
_PREFILL = any_of(r"prefill", r"must end with a user message", r"continue_final_message")
_THINK = any_of(
    r"(?:does not|doesn't) support (?:thinking|reasoning)", r"(?:thinking|reasoning)(?: mode)? is not (?:supported|available|enabled)",
    r"thinking not supported", r"enable_thinking must be",
)  # fmt: skip
_STREAM = any_of(
    r"streaming(?: is)? (?:not |un)(?:supported|available|enabled|allowed)", r"verified to stream", r"support (?:stream|streaming)\b",
)  # fmt: skip
_MAXIMUM = re.compile(
    r"(?:at most|up to|<=|less than or equal to|no more than|lower than|limit of|to|maximum(?: value)?(?: allowed)?(?: is| of)?"
    r"|between \S+ and|\[\d+, ?|max_model_len\D*|> )\W{0,3}(\d+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Advice:
    """What an error says about a parameter. limit: the largest value that a cap may have, where the server told."""

    verdict: Verdict
    parameter: str | None = None
    rename_to: str | None = None
    limit: int | None = None


def parameter_advice(fault: Fault) -> Advice | None:
    """What to change about the request, None when the error is not about a parameter."""
    if fault.status not in (400, 415, 422, 500, 501):
        return None
    return next((advice for advice in _advice(fault) if advice is not None), None)


def is_missing(fault: Fault) -> bool:
    """Whether the server misses something that every request of this API must have: no retry helps."""
    issues = (str(issue.get("type", "")) for issue in fault.issues)
    return _MISSING.search(fault.text) is not None or any(kind in ("missing", "value_error.missing") for kind in issues)


def _advice(fault: Fault) -> Iterator[Advice | None]:
    text = fault.text
    named = _named(fault)
    if fault.status >= 500:  # a traceback names many things; only what is said to be unsupported counts
        named = [name for name in named if _is_unsupported(name, text)]
    yield _from_issues(fault)
    if _PREFILL.search(text):
        yield Advice("drop_parameter", "prefill")
    yield from (_about_name(name, text) for name in named if name in CAP_NAMES)
    if _CAP_IN_WORDS.search(text) and not named:
        yield _about_cap("max_tokens", text, False)
    if _CONSTRAINT.search(text):
        yield Advice("drop_parameter", "response_format")
    if _GRAMMAR.search(text):
        yield Advice("drop_parameter", "grammar")
    if _THINK.search(text):
        yield Advice("drop_parameter", "think")
    if _STREAM.search(text) and "stream_options" not in text:
        yield Advice("drop_parameter", "stream")
    for name in named:
        yield _about_name(name, text)
    if fault.status < 500 and _FORM.search(text) and fault.param not in ESSENTIAL:
        yield Advice("bad_parameter")


def _named(fault: Fault) -> list[str]:
    """The parameters that the error is about, the surest first."""
    names = [fault.param]
    for pattern in UNSUPPORTED:
        names += [found[1] for found in pattern.finditer(fault.text)]
    names += [found[1] for found in _QUOTED.finditer(fault.text)]
    cleaned = (_clean(name) for name in names if name)
    return list(dict.fromkeys(name for name in cleaned if name and name.lower() not in ESSENTIAL))


def _clean(name: str) -> str:
    name = name.strip(".").removeprefix("body.").split(".")[0]
    return _ALIASES.get(name.lower(), next((known for known in KNOWN if known.lower() == name.lower()), name))


def _about_name(name: str, text: str) -> Advice | None:
    unsupported = _is_unsupported(name, text)
    if name in CAP_NAMES:
        return _about_cap(name, text, unsupported)
    if unsupported:
        return Advice("drop_parameter", name)
    if _FORM.search(text):
        return Advice("bad_parameter", name)
    return Advice("drop_parameter", name)


def _is_unsupported(name: str, text: str) -> bool:
    return any(_clean(found[1]) == name for pattern in UNSUPPORTED for found in pattern.finditer(text))


def _about_cap(name: str, text: str, unsupported: bool) -> Advice:
    """The cap on output is renamed where its name is refused, never dropped; a value that is refused comes with a limit."""
    instead = _INSTEAD.search(text)
    if instead and _clean(instead[1]) != name:
        return Advice("rename_parameter", name, _clean(instead[1]))
    if unsupported and name in CAPS:
        return Advice("rename_parameter", name, CAPS[name])
    limits = [int(found[1][:12]) for found in _MAXIMUM.finditer(text)]
    limit = min(limits, default=0) - ("(exclusive)" in text)
    return Advice("bad_parameter", name, limit=limit if limit > 0 else None)


def _from_issues(fault: Fault) -> Advice | None:
    """The issues of a validation error say where (loc) and what (type)."""
    for issue in fault.issues:
        loc = [str(part) for part in issue.get("loc", ()) if str(part) != "body"]
        name = _clean(loc[0]) if loc else ""
        kind = str(issue.get("type", ""))
        if not name or name.lower() in ESSENTIAL or kind in ("missing", "value_error.missing"):
            continue
        if "extra" in kind:
            return Advice("rename_parameter", name, CAPS[name]) if name in CAPS else Advice("drop_parameter", name)
        if kind.endswith(("_type", "_parsing", "type_error")) or kind.startswith("type_error"):
            return Advice("bad_parameter", name)
        return Advice("bad_parameter", name) if name in CAP_NAMES else Advice("drop_parameter", name)
    return None
