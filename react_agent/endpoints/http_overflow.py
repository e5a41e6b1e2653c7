"""Does an error say that the prompt is too long, and which numbers does it give? Wordings of some thirty servers, as rules."""

import re
from collections.abc import Mapping
from typing import Any

_OVERFLOW = re.compile(
    r"""
    maximum\ (context|prompt|input|sequence|model)\ ?(length|size|window)
    | context[_ ]length[_ ]exceeded | context[_ ](window|length|size|limit)[_ ](was\ )?exceed
    | exceed(s|ed|ing)?\ (the\ )?(maximum\ |max\ |available\ |model'?s?\ |model's\ maximum\ )*(input\ )?
      (context|prompt|token)[_ ]?(size|window|length|limit|count)?
    | exceed(s|ed)?\ max(imum)?\ (input\ |prompt\ |token\ )?length
    | (longer|greater|larger|more)\ than\ the\ (model's\ |maximum\ )*(context|model|input|prompt)
    | (prompt|input|request|conversation|messages?)(\ text)?\ (is|are|was)\ too\ (long|large)
    | (input|prompt)\ token\ count.*(exceeds|up\ to)
    | exceeds?\ the\ configured\ limit
    | context\ (window|length|size).{0,40}(exceeds|too\ small|not\ enough|overflow)
    | when\ context\ the\ overflows
    | `inputs`\ (tokens\ \+|must\ have\ less)
    | too\ large\ for\ model\ with
    | exceeded\ model\ token\ limit
    | reduce\ (the\ length\ of|your|the\ size\ of)\ (the\ |your\ )?(messages|prompt|input)
    | (shorter|shorten\ (the|your))\ prompt
    | requested\ token\ count\ exceeds
    | too\ many\ (input\ |prompt\ )?tokens\b(?!\ per)
    | current\ length\ is\ .*\ while\ limit\ is
    | no\ user\ query\ found\ in\ messages
    | request\ too\ large\b
    | range\ of\ input\ length\ should\ be
    | number\ of\ (input\ |prompt\ )?tokens.{0,60}(exceed|greater|larger)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CODES = {
    "context_length_exceeded", "exceed_context_size_error", "request_too_large", "context_window_exceeded", "model_context_window_exceeded",
}  # fmt: skip
_NOT_OVERFLOW = re.compile(r"rate limit|too many requests|string_above_max_length", re.IGNORECASE)
_REQUEST_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)
_JINJA = re.compile(r"jinja|template", re.IGNORECASE)

_N = r"(\d[\d,_]*)"
_LIMIT = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"\bn_ctx\b\W*{_N}",
        rf"context limit: [\d,]+ \+ [\d,]+ > {_N}",
        rf"(?:context|prompt|sequence|model|input|token)[ _](?:length|window|size|limit)s?\s*(?:is|of|:|=|\()?\s*(?:only\s+)?{_N}",
        rf"{_N}(?: tokens?)? maximum",
        rf"maximum(?: number)?(?: of)?(?: input)?(?: tokens?)?(?: allowed)?(?: is|:)? \(?{_N}",
        rf"model (?:only )?supports (?:only )?(?:up to )?{_N}",
        rf"limits?(?: is| of|:)? {_N}",
        rf"must be <=? ?{_N}",
        rf"(?:less|fewer) than {_N}",
        rf"(?:cannot|can't|must not|may not) exceed (?:the \D{{0,40}})?{_N}",
        rf"should be \[\d+, ?{_N}\]",
        rf"> ?{_N}",
    )
)
_USED = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"{_N} (?:of text input|(?:tokens )?(?:in|from) (?:the|your) (?:input )?(?:messages|prompt|input))",
        rf"{_N} (?:`inputs`|input|prompt) tokens",
        rf"(?:input|prompt) token count (?:is |of )?\(?{_N}",
        rf"(?:input|request|prompt|messages?) \({_N} tokens",
        rf"(?:prompt|input|request)(?: is)? too (?:long|large): {_N}",
        rf"(?:contains|resulted in|current length is|received|keep the first|n_keep:|context limit:|given:) {_N}",
        rf"(?:number of (?:input |prompt )?tokens|\(length) \(?{_N}",
        rf"request(?:ed|ing)?:? (?:a total of |up to )?(?:about )?{_N}",
        rf"{_N} tokens? >",
    )
)


def is_overflow(text: str, codes: frozenset[str]) -> bool:
    """Whether an error's words or slugs say that the prompt does not fit the window."""
    if "string_above_max_length" in codes:
        return False
    if _CODES & codes or _REQUEST_TOO_LARGE.search(text):
        return True
    if _NOT_OVERFLOW.search(text):
        return False
    if "no user query found" in text.lower():
        return not _JINJA.search(text)  # from a template it is about roles; from a server that trims, the task is what it trimmed
    return _OVERFLOW.search(text) is not None


def overflow_numbers(text: str, data: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """(limit, used) in tokens, each None when the server did not say. used is the prompt alone where that is told apart."""
    error = data.get("error")
    fields = error if isinstance(error, dict) else data
    limit, used = _field(fields, "n_ctx"), _field(fields, "n_prompt_tokens")
    return limit or _first(_LIMIT, text), used or _first(_USED, text)


def _field(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        if found := pattern.search(text):
            return int(re.sub(r"[,_]", "", found[1])[:12]) or None
    return None
