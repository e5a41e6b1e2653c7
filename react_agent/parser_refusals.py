"""Why objects are refused that can be read but do not decide anything, or more than one thing."""

from typing import Any

from react_agent.lenient_json import Reading, Unreadable
from react_agent.lenient_json_decision import is_decision_like

_NEAR = 200  # characters in which a text's first brace is looked for


def nothing_decided(value: dict[str, Any], offset: int) -> Unreadable:
    """An object that neither calls nor answers."""
    if is_decision_like(value):
        return Unreadable("no_answer", offset, "neither a tool in action nor text in final_answer")
    return Unreadable("not_a_decision", offset, "the object has no action and no final_answer")


def keyless(offset: int) -> Unreadable:
    """An object in which not even a key can be read."""
    return Unreadable("bad_syntax", offset, 'the object does not begin with a key and a colon; write {"thought": ...}')


def no_object(text: str, begin: int) -> Unreadable:
    """No object could be found in a text from begin on; if it begins like one, it is a broken one."""
    near = text[begin : begin + _NEAR]
    start = begin + len(near) - len(near.lstrip() or near)
    if not text.startswith("{", start):
        return Unreadable("no_object", begin, "the reply holds no JSON object")
    if "}" not in text[start:]:
        return Unreadable("truncated", start, "the reply ends before its object is whole", cut=True)
    return keyless(start)


def swallowed(reading: Reading) -> Unreadable | None:
    """An object that decides nothing because its keys were taken for part of a text."""
    if "unescaped_quote" not in reading.repairs:
        return None
    hint = 'action and final_answer are missing: a quote inside a text is not escaped, or a colon is missing; write \\" and "key": value'
    return Unreadable("unescaped_quote", reading.repairs["unescaped_quote"], hint)


def continued(offset: int) -> Unreadable:
    """Behind the last brace more of the object follows."""
    hint = 'the object goes on after its last brace; write \\" for a quote inside a text, and one object only'
    return Unreadable("unescaped_quote", offset, hint)


def conflict(offset: int) -> Unreadable:
    """A second decision that differs."""
    return Unreadable("conflict", offset, "two different decisions stand in one reply; send one of them")


def was_cut(offset: int) -> Unreadable:
    """A limit or a filter cut the reply before its object was closed."""
    return Unreadable("truncated", offset, "the reply was cut before its object was closed", cut=True)


def echoed(offset: int) -> Unreadable:
    """The prompt's template, or an answer out of it."""
    return Unreadable("template_echo", offset, "placeholders stand where values belong; fill in the values")
