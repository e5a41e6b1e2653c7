"""action_input as models give it -> a tool's arguments."""

import json
import re
from collections.abc import Collection
from typing import Any

from react_agent.lenient_json import Unreadable, as_json, read_object, strict_text
from react_agent.lenient_json_decision import is_none
from react_agent.lenient_json_keys import CANONICAL, Role, role, visible
from react_agent.parser_place import Place
from react_agent.registry import Tool

_FENCE = re.compile(r"(?:```|~~~)\w*")
_SHOWN = 40
_OPENERS = " \t\r\n\"'`“‘([{"  # what an object or a call that has lost its beginning may begin with
_AFTER_NAME = " \t\r\n\"'`”’"
_JSON_AGAIN = re.compile(r"""["'“]\s*\{\s*\\*["']""")


def arguments(tool: Tool, value: object, given: bool, place: Place, repairs: dict[str, int]) -> dict[str, Any]:
    """The arguments that a value stands for, checked no further; given is False when there was no action_input at all.

    An object; the JSON text of one; a list of one; bare text for a tool with exactly one parameter; nothing, for a tool with
    none. Raises Unreadable("bad_input").
    """
    if isinstance(value, dict) and tool.parameter_set.issuperset(value):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        repairs.setdefault("list_of_one", place.of_key("action_input"))
        value = value[0]
    if isinstance(value, str):
        value = _from_text(tool, value, place, repairs)
    if isinstance(value, dict):
        return _clean(tool, value, place, repairs)
    if value is None and not tool.parameter_names:
        repairs.setdefault("no_input", place.of_key("action_input"))
        return {}
    if not given or value is None:
        raise _bad_input(tool, place, f"{tool.name} needs its arguments in action_input")
    if isinstance(value, list):
        raise _bad_input(tool, place, "action_input is a list; name each argument")
    raise _bad_input(tool, place, f"action_input is {json.dumps(value)}, not an object")


def _from_text(tool: Tool, text: str, place: Place, repairs: dict[str, int]) -> object:
    names = tool.parameter_names
    inner = text.strip()
    if fence := _FENCE.match(inner):
        inner = inner[fence.end() :].removesuffix(fence[0][:3]).strip()
    if inner.startswith(("{", "[{")):
        repairs.setdefault("json_text", place.of_key("action_input"))
        return _object_in(tool, inner, place)
    if len(names) == 1 and inner:
        if is_none(inner) or _is_code(tool, inner):
            raise _bad_input(tool, place, f"it is not plain what the text {text[:_SHOWN]!r} means")
        repairs.setdefault("bare_input", place.of_key("action_input"))
        return {names[0]: text}
    if not names and is_none(text):
        return None
    raise _bad_input(tool, place, f"action_input is the text {text[:_SHOWN]!r}" if text else "action_input is empty")


def _is_code(tool: Tool, text: str) -> bool:
    """Does a text begin with the name of the tool's one parameter and a value for it, or with the tool's own and a bracket; or is it
    JSON that was written as a text once more?"""
    if _JSON_AGAIN.match(text):
        return True
    text = text.lstrip(_OPENERS)
    begins = ((tool.parameter_names[0], (":", "=", "：")), (tool.name, ("(",)))
    return any(text.startswith(name) and text[len(name) :].lstrip(_AFTER_NAME).startswith(marks) for name, marks in begins)


def _object_in(tool: Tool, text: str, place: Place) -> dict[str, Any]:
    """The object that a text is, whole; read with repairs only if it then has the tool's own parameters."""
    try:
        value = strict_text(text)
    except ValueError:
        value = _repaired(tool, text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise _bad_input(tool, place, "action_input is text that looks like JSON but is not whole")
    return value


def _repaired(tool: Tool, text: str) -> object:
    try:
        reading = read_object(text, 0, lambda _: tool.parameter_names, as_input=True) if text.startswith("{") else None
    except Unreadable:
        return None
    whole = reading is not None and not text[reading.end :].strip() and tool.parameter_set.issuperset(reading.value)
    return reading.value if reading and whole else None


def _clean(tool: Tool, value: dict[str, Any], place: Place, repairs: dict[str, int]) -> dict[str, Any]:
    """The arguments with invisible characters taken out of parameter names."""
    if tool.parameter_set.issuperset(value):
        return value
    names = tool.parameter_set
    for key in [key for key in value if key not in names]:
        if visible(key) in names and visible(key) not in value:
            repairs.setdefault("invisible", place.of_key("action_input"))
            value = {(visible(each) if each == key else each): item for each, item in value.items()}
    return value


def refuse_misplaced(
    tool: Tool, inputs: dict[str, Any], value: dict[str, Any], has: Collection[Role], place: Place, *, in_doubt: bool
) -> None:  # fmt: skip
    """Unreadable if the input of value was closed too late or too early.

    Too late: one of the decision's keys stands in it and not beside it. Too early: one of the tool's parameters stands beside it
    and not in it. has: the parts of a decision that value holds. in_doubt: a brace was missing or one too many, so that other names of
    the decision's keys count too, and parameters that have one of its names.
    """
    names = tool.parameter_set
    for key in inputs:
        part = CANONICAL.get(key) or (role(key) if in_doubt else None)
        if part and part not in has and key not in names:
            raise Unreadable("bad_input", place.of_key(key), f'"{key[:_SHOWN]}" stands inside action_input; close action_input before it')
    for key in value:
        if key in names and key not in inputs and (in_doubt or key not in CANONICAL):
            raise Unreadable("bad_input", place.of_key(key), f'"{key[:_SHOWN]}" stands beside action_input; write it inside')
        if key in names and key in inputs and value[key] != inputs[key] and not role(key):
            raise Unreadable("bad_input", place.of_key(key), f'"{key[:_SHOWN]}" stands beside action_input too; write it once, inside')


def _bad_input(tool: Tool, place: Place, what: str) -> Unreadable:
    shape = ", ".join([f'{as_json(name)}: "..."' for name in tool.parameter_names])
    return Unreadable("bad_input", place.of_key("action_input"), f'{what}; write "action_input": {{{shape}}}')
