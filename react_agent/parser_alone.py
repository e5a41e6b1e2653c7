"""The usual reply: one object, and around it nothing that could be or change a decision. Read at once, without a search.

What is read here, Choice would read the same; where anything may matter, nothing is read here. The fuzzer holds the two together.
"""

import re
from collections.abc import Mapping, Sequence

from react_agent.lenient_json import Guide, Unreadable, strict_object, try_object
from react_agent.lenient_json_decision import is_decision_like
from react_agent.lenient_json_keys import read_keys
from react_agent.parser_around import KEY, QUOTES, REST_OF_NOTHING, next_speaker, says_something
from react_agent.parser_find import Tried, has_prose
from react_agent.parser_place import Place
from react_agent.parser_refusals import was_cut
from react_agent.parser_shape import Shape, decided, plain_shape
from react_agent.registry import ToolRegistry
from react_agent.segments import MARK, TURN_END

_BEFORE = re.compile(
    r"(?:\s*+<think>(?:[^<]++|<(?!/?think[\s>]))*+</think>)++"
    r"|\s*+(?:<\|start\|>assistant)?+<\|channel\|>(?:final|commentary)<\|message\|>",
    re.IGNORECASE,
)  # reasoning, or the header of a channel
_SPEAKER = re.compile(r"\s*+(?:ai|assistant)[ \t]*+:", re.IGNORECASE)
_DOUBTFUL = re.compile(r"[\"“:：]|\[\s*\Z")  # in front of the object: a key, a label, a list
_FENCED = re.compile(r"\s*+(?:(?:```|~~~)\s*+)?")
_MATTERS = re.compile(r"[\"“”:：]")  # in prose after the object, besides tags
_TAG = re.compile(r"[<◁]|\[[/t]", re.IGNORECASE)
_BRACE = re.compile("[{｛]")
_MORE = re.compile(r"[}｝\n<\[◁]")  # without one of these, an object that a limit has cut holds nothing whole and no other reply
_MARKED = re.compile(r"[{}｛｝<\[◁]")  # without one of these, a text holds no object and no tag
_OPEN = r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+'
_MEMBERS = rf'(?:\s*+{_OPEN}"\s*+:\s*+{_OPEN}"\s*+,)*+\s*+'
_CUT_CALL = re.compile(rf'\{{{_MEMBERS}"action_input"\s*+:\s*+\{{{_MEMBERS}(?:{_OPEN}"\s*+:\s*+{_OPEN}["\\]?+)?+\Z')
_NOTHING = Tried(-1)


def is_only_cut(text: str, start: int) -> bool:
    """Can a text that a limit has cut decide nothing, so that nothing else is wrong with it? start: after blanks."""
    if text.startswith("{", start):
        return not _MORE.search(text, start)
    return not _MARKED.search(text, start) and says_something(text)


def is_cut_call(text: str, start: int) -> bool:
    """Does a text end in a call's input, within a plain member of it or behind one?"""
    return _CUT_CALL.match(text, start) is not None


def read_alone(text: str, tried: Tried, tools: ToolRegistry) -> tuple[Shape, Mapping[str, int]] | None:
    """The decision of a usual reply and its repairs; None for any other reply. tried: its first object."""
    reading = tried.strictly
    shape = plain_shape(reading.value, tools) if reading else None
    if reading is None or shape is None:
        return None
    if "thought" not in reading.value and has_prose(text[_begin(text) : reading.start]):
        return None  # it may only be quoted there
    end, repairs = reading.end, reading.repairs
    fence = _FENCED.match(text, end)
    rest = fence.end() if fence else end
    if rest == len(text):
        return shape, repairs
    if text.startswith(QUOTES, end):
        return None
    over = TURN_END.match(text, rest)
    if not over and _TAG.search(text, rest):
        return None
    speaker = next_speaker(text, end, len(text))
    if speaker >= 0:
        return (shape, {**repairs, "invented_observation": speaker}) if over or _is_plain(text, end, speaker) else None
    if not over and (_MATTERS.search(text, rest) or (_BRACE.search(text, rest) and MARK.search(text, rest))):
        return None
    return shape, {**repairs, "dropped_tail": end} if says_something(text[end:]) else repairs


def first_object(text: str) -> Tried:
    """The object of a text that begins with something else, if nothing that matters stands before it."""
    if "{" not in text:
        return _NOTHING
    begin = _begin(text)
    if not begin and (speaker := _SPEAKER.match(text)):
        begin = speaker.end()
    mark = MARK.search(text, begin)
    start = mark.start() if mark else len(text)
    unmarked = 0 if begin else start
    if not mark or mark.lastgroup != "object" or text[start] != "{" or _DOUBTFUL.search(text, begin, start):
        return Tried(-1, unmarked=unmarked)
    return Tried(start, strict_object(text, start), unmarked=unmarked)


def _begin(text: str) -> int:
    """Where a reply begins: after reasoning or a channel's header."""
    before = _BEFORE.match(text) if text.lstrip().startswith("<") else None
    return before.end() if before else 0


def try_repairs(text: str, start: int, guide: Guide, faults: Sequence[int]) -> Tried:
    """Read the object that the text begins with, which the standard decoder cannot; that is tried once only. faults: what it found.
    Where its first brace begins no object, the first object is tried."""
    mark = MARK.match(text, start)
    if not mark or mark.lastgroup != "object":
        return first_object(text)
    return Tried(start, None, try_object(text, start, guide, fault=faults[0] if faults else 0))


def read_damaged(text: str, tried: Tried, tools: ToolRegistry, *, cut: bool) -> tuple[Shape, Mapping[str, int]] | None:
    """The decision and the repairs of a reply that is one damaged object and nothing else; None for any other.

    Raises Unreadable for a decision that cannot be used.
    """
    reading = tried.repaired
    if isinstance(reading, Unreadable):
        if reading.reason != "template_echo" and read_keys(reading.keys).strong:
            raise reading
        return None
    if reading is None or (reading.end < len(text) and not text[reading.end :].isspace()) or not is_decision_like(reading.value):
        return None
    if cut and reading.ending != "closed":
        raise was_cut(reading.end)
    repairs = dict(reading.repairs)
    found = decided(reading.value, reading.ending, Place(text, reading.start, reading.end), tools, repairs)
    return (found, repairs) if found and found.decides and (found.tool or not found.weak) else None


def _is_plain(text: str, end: int, speaker: int) -> bool:
    """Is there nothing in front of another speaker's turn and nothing in it that matters?"""
    if text[end:speaker].strip(REST_OF_NOTHING) or KEY.search(text, end):
        return False
    brace = _BRACE.search(text, end)
    return brace is None or next_speaker(text, end, brace.start()) == speaker
