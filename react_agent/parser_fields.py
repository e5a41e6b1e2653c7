"""The four parts of a decision in an object, under whatever names and wrappers they came."""

import json
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from react_agent.lenient_json import Unreadable, strict_text
from react_agent.lenient_json_decision import is_decision_like
from react_agent.lenient_json_keys import CANONICAL, Keys, Role, read_keys, strong_role
from react_agent.parser_names import find_tool
from react_agent.parser_place import Place
from react_agent.registry import ToolRegistry

_WRAPPER_WORDS = frozenset({
    "response", "output", "result", "json", "decision", "reply", "tool", "call", "calls", "function", "action", "actions", "step",
    "steps", "next", "message", "content", "data", "object", "assistant", "agent", "root", "final", "my", "the",
})  # fmt: skip
_KEY = re.compile(r'"(?:action|action_input|final_answer)"\s*:')
_WORDS = re.compile(r"[A-Z]?[a-z]+")
_DEEPEST = 4  # how many objects around a call are taken off


class Fields(NamedTuple):
    """has: which parts were there at all. given: was there an input, beside the action or in it? weak: no key among them is one that
    only a decision has."""

    has: frozenset[Role]
    thought: Any
    action: Any
    input: Any
    answer: Any
    given: bool
    weak: bool


def unwrapped(value: dict[str, Any], keys: Keys, place: Place, repairs: dict[str, int]) -> dict[str, Any]:
    """value without an object of one key around it, such as {"response": {...}}; the inner one may be JSON text or a list of one."""
    if len(keys.bearing) != 1:
        return value
    key = keys.bearing[0]
    inner = value[key]
    words = _WORDS.findall(key)
    if not words or not _WRAPPER_WORDS.issuperset(word.casefold() for word in words):
        return value
    if isinstance(inner, str) and inner.lstrip().startswith("{"):
        try:
            inner = strict_text(inner)
        except ValueError:
            if _KEY.search(inner):
                raise Unreadable("bad_syntax", place.of_key(key), f"the text in {key[:40]} is not whole; write the object itself") from None
            return value
    if isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
    if not isinstance(inner, dict) or not is_decision_like(inner):
        return value
    if strong_role(key) == "action" and "action" not in read_keys(inner).strong:
        return value  # {"tool_call": {"name": ..., "arguments": ...}} is an action already
    repairs.setdefault("wrapper", place.of_key(key))
    return inner


def collect(value: dict[str, Any], keys: Keys, tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Fields:
    """The parts of one object. Keys that only a decision has go before those that data may have. Raises Unreadable("conflict")."""
    if keys.canonical:
        get = value.get
        return Fields(
            keys.has, get("thought"), get("action"), get("action_input"), get("final_answer"), "input" in keys.has, weak=not value
        )  # fmt: skip
    found: dict[Role, Any] = {}
    for role, first, more, lesser in keys.parts:
        key, others = first, more
        if more and None in [value[each] for each in (first, *more)]:  # a null under another name says nothing
            said = [each for each in (first, *more) if value[each] is not None or each in CANONICAL] or [first]
            key, others = said[0], tuple(said[1:])
        if role == "input" and value[key] is None:
            key = next((other for other in lesser if value[other]), key)
        found[role] = item = value[key]
        if others and role != "thought":
            _refuse_disagreement(value, key, others, place)
        if lesser and (role == "input" or (role == "answer" and item)):
            _refuse_disagreement(value, key, [other for other in lesser if value[other] and other != key], place)
        if lesser and role == "action":
            _refuse_other_name(value, key, lesser, tools, place)
        if key not in CANONICAL:
            repairs.setdefault("alias_key", place.of_key(key))
    return Fields(
        keys.has, found.get("thought"), found.get("action"), found.get("input"), found.get("answer"), "input" in keys.has,
        weak=not keys.strong,
    )  # fmt: skip


def called(fields: Fields, tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Fields:
    """The same for an action that is no text: a tool's name or nothing as action, and its input, out of the object or the list that
    stands there. Raises Unreadable."""
    name, inputs, given = fields.action, fields.input, fields.given
    for _ in range(_DEEPEST):
        if isinstance(name, list):
            name = _only(name, place, repairs)
        if not isinstance(name, dict):
            break
        inner = collect(name, read_keys(name), tools, place, repairs)
        if "action" not in inner.has:
            raise Unreadable("not_a_decision", place.start, "action is an object without a tool's name; write the name there as text")
        repairs.setdefault("nested_call", place.start)
        if "input" in inner.has:
            if inputs and not same(inputs, inner.input):
                raise Unreadable("conflict", place.start, "there are two inputs that differ; give action_input once")
            inputs, given = inner.input, True
        name = inner.action
    if not isinstance(name, str | None):
        hint = f"action is {json.dumps(name)[:40]}; write a tool's name there as text, or none"
        raise Unreadable("unknown_tool", place.of_key("action"), hint)
    return fields._replace(action=name, input=inputs, given=given)


def same(a: object, b: object) -> bool:
    """Are two values the same JSON?"""
    return a == b and (isinstance(a, str) or json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True))


def _only(values: list[Any], place: Place, repairs: dict[str, int]) -> Any:
    if not values:
        return None
    if any(not same(values[0], other) for other in values[1:]):
        raise Unreadable("conflict", place.start, "the reply calls several tools; call one tool, and the next one in your next reply")
    repairs.setdefault("list_of_one", place.start)
    return values[0]


def _refuse_disagreement(value: dict[str, Any], key: str, others: Iterable[str], place: Place) -> None:
    for other in others:
        if not same(value[key], value[other]):
            hint = f'"{key}" and "{other[:40]}" say different things; keep only one of them'
            raise Unreadable("conflict", place.of_key(other), hint)


def _refuse_other_name(value: dict[str, Any], key: str, others: Iterable[str], tools: ToolRegistry, place: Place) -> None:
    """A "name" beside "action" is data, unless it is another tool's."""
    for other in others:
        name = value[other]
        if isinstance(name, str) and (tool := find_tool(name, tools)) and not same(value[key], name):
            hint = f'"{key}" and "{other[:40]}" name different tools, one of them {tool.name}; name one'
            raise Unreadable("conflict", place.of_key(other), hint)
