"""The four parts of a decision in an object, under whatever names and wrappers they came."""

import json
import re
from dataclasses import dataclass
from typing import Any

from react_agent.lenient_json import Unreadable, strict_text
from react_agent.lenient_json_decision import BESIDE, is_decision_like
from react_agent.lenient_json_keys import CANONICAL, WEAK, Role, squeezed, strong_role
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


@dataclass(slots=True)
class Fields:
    """has: which parts were there at all. weak: no key among them is one that only a decision has."""

    has: frozenset[Role]
    thought: Any = None
    action: Any = None
    input: Any = None
    answer: Any = None
    weak: bool = False


@dataclass(slots=True)
class Called:
    """What the action names and the input that came with it; given is False when there was none."""

    name: Any
    input: Any
    given: bool


def unwrapped(value: dict[str, Any], place: Place, repairs: dict[str, int]) -> dict[str, Any]:
    """value without an object of one key around it, such as {"response": {...}}; the inner one may be JSON text or a list of one."""
    if len(value) > 1 and value.keys() <= CANONICAL.keys():
        return value
    bearing = [key for key in value if squeezed(key) not in BESIDE]
    if len(bearing) != 1:
        return value
    key, inner = bearing[0], value[bearing[0]]
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
    if strong_role(key) == "action" and not any(strong_role(each) == "action" for each in inner):
        return value  # {"tool_call": {"name": ..., "arguments": ...}} is an action already
    repairs.setdefault("wrapper", place.of_key(key))
    return inner


def collect(value: dict[str, Any], tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Fields:
    """The parts of one object. Keys that only a decision has go before those that data may have. Raises Unreadable("conflict")."""
    if value and value.keys() <= CANONICAL.keys():
        has = frozenset([CANONICAL[key] for key in value])
        return Fields(has, value.get("thought"), value.get("action"), value.get("action_input"), value.get("final_answer"))
    strong: dict[Role, list[str]] = {}
    weak: dict[Role, list[str]] = {}
    for key in value:
        if role := strong_role(key):
            strong.setdefault(role, []).append(key)
        elif role := WEAK.get(squeezed(key)):
            weak.setdefault(role, []).append(key)
    fields = Fields(frozenset(strong) | frozenset(weak), weak=not strong)
    for role in CANONICAL.values():
        keys = strong.get(role) or weak.get(role)
        if not keys:
            continue
        if len(keys) > 1 and role != "thought":
            _refuse_disagreement(value, keys, place)
        if role in ("input", "answer") and role in strong and value[keys[0]]:
            _refuse_disagreement(value, [keys[0], *(key for key in weak.get(role, ()) if value[key])], place)
        if keys[0] not in CANONICAL:
            repairs.setdefault("alias_key", place.of_key(keys[0]))
        setattr(fields, role, value[keys[0]])
    if "action" in strong:
        _refuse_other_name(value, strong["action"][0], weak.get("action", []), tools, place)
    return fields


def called(fields: Fields, tools: ToolRegistry, place: Place, repairs: dict[str, int]) -> Called:
    """The name in action and its input, also when they are an object inside action. Raises Unreadable."""
    call = Called(fields.action, fields.input, "input" in fields.has)
    for _ in range(_DEEPEST):
        if isinstance(call.name, list):
            call.name = _only(call.name, place, repairs)
        if not isinstance(call.name, dict):
            break
        inner = collect(call.name, tools, place, repairs)
        if "action" not in inner.has:
            raise Unreadable("not_a_decision", place.start, "action is an object without a tool's name; write the name there as text")
        repairs.setdefault("nested_call", place.start)
        if "input" in inner.has:
            if call.given and call.input and not same(call.input, inner.input):
                raise Unreadable("conflict", place.start, "there are two inputs that differ; give action_input once")
            call.input, call.given = inner.input, True
        call.name = inner.action
    if not isinstance(call.name, str | None):
        hint = f"action is {json.dumps(call.name)[:40]}; write a tool's name there as text, or none"
        raise Unreadable("unknown_tool", place.of_key("action"), hint)
    return call


def same(a: object, b: object) -> bool:
    """Are two values the same JSON?"""
    return a == b and json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _only(values: list[Any], place: Place, repairs: dict[str, int]) -> Any:
    if not values:
        return None
    if any(not same(values[0], other) for other in values[1:]):
        raise Unreadable("conflict", place.start, "the reply calls several tools; call one tool, and the next one in your next reply")
    repairs.setdefault("list_of_one", place.start)
    return values[0]


def _refuse_disagreement(value: dict[str, Any], keys: list[str], place: Place) -> None:
    for other in keys[1:]:
        if not same(value[keys[0]], value[other]):
            hint = f'"{keys[0]}" and "{other[:40]}" say different things; keep only one of them'
            raise Unreadable("conflict", place.of_key(other), hint)


def _refuse_other_name(value: dict[str, Any], key: str, others: list[str], tools: ToolRegistry, place: Place) -> None:
    """A "name" beside "action" is data, unless it is another tool's."""
    for other in others:
        name = value[other]
        if isinstance(name, str) and (tool := find_tool(name, tools)) and not same(value[key], name):
            hint = f'"{key}" and "{other[:40]}" name different tools, one of them {tool.name}; name one'
            raise Unreadable("conflict", place.of_key(other), hint)
