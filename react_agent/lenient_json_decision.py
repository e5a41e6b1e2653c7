"""What shows that an object is a decision, a decision's template, or neither; without knowing the tools."""

import functools
import re
from collections.abc import Container
from typing import Any

from react_agent.lenient_json_keys import CALL, NAMES, SCHEMA_KEYS, Keys, read_keys, squeezed, visible

NONE_WORDS = frozenset({
    "", "none", "null", "nil", "n/a", "notool", "noaction", "notoolneeded", "nothing", "na", "noneneeded", "notneeded",
    "noactionneeded", "无", "没有", "不需要", "无需工具",
})  # fmt: skip
_TEMPLATE_ANSWERS = frozenset({"the answer", "答案"})  # what the prompt shows in the place of one
_EDGES = " \t\r\n\"'`“”‘’*"
_NAMESPACE = re.compile(r"(?:functions|tools)\.", re.IGNORECASE)
_SHORT = 60  # characters of a name that is remembered
_BLANK = re.compile(r"\s*[<.…]")  # how the blanks below begin
_ANGLED = re.compile(r"\s*<[^<>]{1,80}>\s*\Z")
_ANGLED_BLANK = re.compile(r"\s*<[^<>/]{3,80}>\s*\Z")
_ANGLED_WORDS = re.compile(
    r"\s*<[^<>]{0,100}\b(?:your|the|tool|name|answer|reasoning|thoughts?|null|none|here|input|value|argument|text)\b[^<>]{0,100}>\s*\Z",
    re.IGNORECASE,
)
_DOTS = re.compile(r"\s*(?:\.{3,}|…+)\s*\Z")
_NO_NAME = re.compile(
    rf"{_ANGLED.pattern}|{_DOTS.pattern}"
    r"|\s*+(?:\[[^\[\]]{1,80}\]|\{++[^{}]{1,80}\}++|\$\w{1,80}|\w{1,80}+(?:\s*+\|\s*+\w{1,80}+)++)\s*\Z"
    r"|\s*(?:the )?(?:names? of (?:the|a) tool|(?:tool|action)[ _-]?names?\b|tool to (?:use|call)|工具名|one of\b"
    r"|(?:string|str|tool|action|name)\s*\Z)",
    re.IGNORECASE,
)


def bare(name: str) -> str:
    r"""A name without what models put around it: blanks, quotes, backticks, an empty (), a namespace, Markdown's \_."""
    return _short_bare(name) if len(name) <= _SHORT else _bare(name)


def _bare(name: str) -> str:
    name = visible(name).replace("\\_", "_").strip(_EDGES)
    name = name.removesuffix("()").strip(_EDGES)
    space = _NAMESPACE.match(name) if "." in name else None
    return name[space.end() :] if space else name


_short_bare = functools.lru_cache(maxsize=256)(_bare)  # models write the same names again and again


def is_none(name: str) -> bool:
    """Is a name a word for no tool?"""
    return _is_short_none(name) if len(name) <= _SHORT else _is_none(name)


def _is_none(name: str) -> bool:
    return as_word(name).removesuffix(".") in NONE_WORDS


_is_short_none = functools.lru_cache(maxsize=256)(_is_none)


def as_word(name: str) -> str:
    """A bare name as it is compared."""
    return squeezed(bare(name))


def may_decide(value: dict[str, Any]) -> bool:
    """Could an object be a decision: has it a key that can be a part of one, or one that can be a wrapper?"""
    if "action" in value or "final_answer" in value:
        return True
    keys = read_keys(value)
    return bool(keys.parts) or (len(keys.bearing) == 1 and isinstance(value[keys.bearing[0]], dict | list | str))


def is_decision_like(value: dict[str, Any]) -> bool:
    """Does an object have a key that only a decision has, or a name beside its arguments?"""
    keys = read_keys(value)
    return bool(keys.strong) or keys.has >= CALL


def is_echo(value: dict[str, Any], keys: Keys, tools: Container[str] = ()) -> bool:
    """Is an object the template, the schema or a placeholder of the prompt rather than a decision? keys: of the object. tools: names
    that are none, whatever they look like."""
    if not keys.canonical and not SCHEMA_KEYS.isdisjoint(value) and _holds_schema(value):
        return True
    parts = value if keys.canonical else _parts(value, keys)
    action, answer, thought = parts.get("action"), parts.get("final_answer"), parts.get("thought")
    if isinstance(action, str) and (_is_no_name(action) if len(action) <= _SHORT else _NO_NAME.match(action)) and action not in tools:
        return True
    if isinstance(answer, str) and is_template_answer(answer):
        return not isinstance(action, str) or is_none(action)
    return isinstance(thought, str) and isinstance(inputs := parts.get("action_input"), dict) and is_template_call(thought, inputs)


def is_template_call(thought: str, inputs: dict[str, Any]) -> bool:
    """Do a call's thought and input hold blanks where values belong?"""
    if not inputs or thought[:1].isalnum() or not _BLANK.match(thought):
        return False
    blanks = [_is_blank(item) for item in inputs.values()]
    return any(blanks) if _ANGLED_WORDS.match(thought) else all(blanks) and _is_blank(thought)


@functools.lru_cache(maxsize=256)
def _is_no_name(action: str) -> bool:
    """Is it what stands in a tool's place in a template? Models write the same few names again and again."""
    return _NO_NAME.match(action) is not None


def is_template_answer(answer: str) -> bool:
    """Is an answer what stands in the prompt in its place, dots, or words in angle brackets?"""
    if len(answer) < 20 and answer.strip().casefold() in _TEMPLATE_ANSWERS:
        return True
    return bool(_BLANK.match(answer) and (_DOTS.match(answer) or _ANGLED_WORDS.match(answer)))


def has_answer(value: object) -> bool:
    """Is a final_answer one? Not null, nothing but blanks, "null", or an empty object or list."""
    if isinstance(value, str):
        plain = visible(value).strip()
        return plain != "" and plain.casefold() != "null"
    return value is not None and value != {} and value != []


def holds_call(value: object) -> bool:
    """Is a final_answer a call, or a list or an object of one key with a call in it?"""
    if isinstance(value, list):
        return any(isinstance(item, dict) and _is_call(item) for item in value)
    if not isinstance(value, dict):
        return False
    return _is_call(value) or (len(value) == 1 and any(isinstance(item, dict) and _is_call(item) for item in value.values()))


def is_whole(value: dict[str, Any]) -> bool:
    """Does an object hold all of a decision, under keys that only a decision has: a name and its input, or an answer?

    No for what a parser may still complete from the text that follows.
    """
    keys = read_keys(value)
    parts = _parts(value, keys)
    name = parts.get("action")
    if is_echo(value, keys) or not isinstance(name, str | None):
        return False
    if name is None or is_none(name):
        return has_answer(parts.get("final_answer"))
    return "action_input" in parts


def _parts(value: dict[str, Any], keys: Keys) -> dict[str, Any]:
    """What stands under keys that only a decision has, under the names that the prompt gives them."""
    if keys.canonical:
        return value
    return {NAMES[part.role]: value[(part.key, *part.same)[-1]] for part in keys.parts if part.role in keys.strong}


def _is_call(value: dict[str, Any]) -> bool:
    return read_keys(value).strong >= CALL


def _holds_schema(value: dict[str, Any]) -> bool:
    function = value.get("function")
    return (
        _is_schema(value) or _is_schema(value.get("parameters")) or (isinstance(function, dict) and _is_schema(function.get("parameters")))
    )


def _is_schema(value: object) -> bool:
    return isinstance(value, dict) and "properties" in value and ("type" in value or "$schema" in value)


def _is_blank(value: object) -> bool:
    """Is a value dots or words in angle brackets, to be filled in?"""
    return isinstance(value, str) and (_DOTS.match(value) or _ANGLED_BLANK.match(value)) is not None
