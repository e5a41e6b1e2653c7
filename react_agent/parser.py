"""Completion -> Decision or ParseError; pure, linear, and nothing else ever escapes."""

import json
import operator
from collections.abc import Mapping
from typing import Any

from react_agent.errors import ParseError
from react_agent.lenient_json import Reading, Unreadable, strict_value
from react_agent.lenient_json_decision import is_none
from react_agent.lenient_json_keys import CANONICAL
from react_agent.parser_alone import first_object, is_cut_call, is_only_cut, read_alone, read_damaged, try_repairs
from react_agent.parser_choose import Choice
from react_agent.parser_find import Tried
from react_agent.parser_names import parameters_in
from react_agent.parser_place import Place
from react_agent.parser_refusals import echoed, nothing_decided, was_cut
from react_agent.parser_shape import Shape, plain_shape, unusual_shape
from react_agent.registry import ToolRegistry
from react_agent.types import Completion, Decision, Repair, ToolCall

MAX_CHARACTERS = 2_000_000
_OFFSET = operator.itemgetter(1)
_ENCODE = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_SAID_WHEN_CUT = frozenset({"empty", "only_thinking", "refused", "too_long"})


def parse_decision(completion: Completion, tools: ToolRegistry) -> Decision:
    """The decision that a completion's text holds; raises ParseError and nothing else.

    Syntax is repaired where one reading is possible, each kind of repair recorded with its first offset. What the model did not
    write in full, or wrote in two ways, is refused: only an input that it closed itself is ever a call.
    """
    text, reason = completion.text, completion.finish_reason
    cut = reason in ("length", "content_filter")
    try:
        if completion.refusal or not 0 < len(text) <= MAX_CHARACTERS:
            _refuse_unread(completion)
        start = 0 if text[:1] == "{" else len(text) - len(text.lstrip())
        begins = text.startswith("{", start)
        closes = begins and "}" in text
        if (cut and is_only_cut(text, start)) or (begins and not closes and is_cut_call(text, start)):
            raise was_cut(len(text))
        repairs: dict[str, int] = {}
        faults = [] if closes else [len(text)]
        reading = None
        if closes and (found := strict_value(text, start, repairs, faults)):
            value, end = found
            if end == len(text) or text[end:].isspace():
                return _decision(plain_shape(value, tools) or _whole(value, Place(text, start, end), tools, repairs), repairs)
            reading = Reading(value, start, end, repairs=repairs)
        if begins and not reading:
            tried = try_repairs(text, start, parameters_in(tools), faults)
        else:
            tried = Tried(start, reading) if reading else first_object(text)
        if usual := read_damaged(text, tried, tools, cut=cut) if tried.repaired else read_alone(text, tried, tools):
            return _decision(*usual)
        chosen = Choice(text, tools, parameters_in(tools), tried, cut=cut, stopped=reason == "stop").make()
        return _decision(chosen.shape, chosen.repairs)
    except Unreadable as error:
        error.forget_frames()
        raise _parse_error(error, text, cut) from None


def canonical(decision: Decision) -> str:
    """The decision as one line of JSON, for the model's history; lone surrogates become U+FFFD.

    Only the keys that say something, in order; all four where fewer would leave a doubt: an argument has the name of one of them, the
    answer is a word for none, or has an object in it. Raises ValueError for arguments that JSON cannot hold, which no parsed decision has.
    """
    call, answer = decision.call, decision.final_answer or ""
    said: dict[str, Any]
    if call:
        said, in_doubt = {"action": call.name, "action_input": call.arguments}, not CANONICAL.keys().isdisjoint(call.arguments)
    else:
        said, in_doubt = {"final_answer": answer}, "{" in answer or is_none(answer)
    rest: dict[str, Any] = {"thought": decision.thought} if decision.thought else {}
    if in_doubt:
        rest = {"thought": decision.thought, "action": "none", "action_input": {}, "final_answer": None}
    text = _ENCODE(rest | said)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _refuse_unread(completion: Completion) -> None:
    """Unreadable for what is refused without reading it; nothing for a text that is merely empty."""
    if completion.refusal:
        raise Unreadable("refused", 0, "the model refused to reply")
    if len(completion.text) > MAX_CHARACTERS:
        hint = f"the reply has {len(completion.text):,} characters, and at most {MAX_CHARACTERS:,} are read"
        raise Unreadable("too_long", 0, hint)
    if completion.finish_reason == "content_filter":
        raise Unreadable("refused", 0, "a content filter removed the reply")


def _whole(value: dict[str, Any], place: Place, tools: ToolRegistry, repairs: dict[str, int]) -> Shape:
    """What a text decides that is one valid JSON object, which stands at place, and not a plain one."""
    found = unusual_shape(value, "closed", place, tools, repairs, sure=True)
    if not found:
        raise echoed(place.start)
    if found.tool is None and found.answer is None:
        raise nothing_decided(value, place.start)
    return found


def _decision(found: Shape, repairs: Mapping[str, int]) -> Decision:
    if not repairs:
        noted: tuple[Repair, ...] = ()
    elif len(repairs) == 1:
        noted = (Repair(*next(iter(repairs.items()))),)
    else:
        noted = tuple([Repair(name, at) for name, at in sorted(repairs.items(), key=_OFFSET)])
    if found.tool:
        return Decision(found.thought, ToolCall(found.tool.name, found.arguments or {}), None, noted)
    return Decision(found.thought, None, found.answer, noted)


def _parse_error(error: Unreadable, text: str, cut: bool) -> ParseError:
    """The error with its place in the text. A reply that was cut is told so, whatever else is wrong with it."""
    reason, hint, at = error.reason, error.hint, error.offset
    if cut and reason not in _SAID_WHEN_CUT:
        reason, hint = "truncated", f"the reply was cut after {len(text)} characters"
    return ParseError(reason, hint, text=text, offset=len(text) if reason == "truncated" else at)
