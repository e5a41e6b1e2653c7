"""The usual reply: one object, and around it nothing that could be or change a decision. Read at once, without a search.

What is read here, Choice would read the same; where anything may matter, nothing is read here. The fuzzer holds the two together.
"""

import re
from collections.abc import Mapping

from react_agent.lenient_json import Reading, strict_object
from react_agent.parser_choose import KEY, QUOTES, REST_OF_NOTHING, next_speaker, says_something
from react_agent.parser_find import has_prose
from react_agent.parser_shape import Shape, plain_shape
from react_agent.registry import ToolRegistry
from react_agent.segments import MARK, TURN_END

_REASONING = re.compile(r"\s*+<think>[^<]*+</think>", re.IGNORECASE)
_DOUBTFUL = re.compile(r"[\"“:：]|\[\s*\Z")  # in front of the object: a key, a label, a list
_FENCED = re.compile(r"\s*+(?:(?:```|~~~)\s*+)?")
_MATTERS = re.compile(r"[{｛\"“:：]")  # in prose after the object, besides tags
_TAG = re.compile(r"[<◁]|\[[/t]", re.IGNORECASE)
_BRACE = re.compile("[{｛]")


def read_alone(text: str, strictly: Reading | None, tools: ToolRegistry) -> tuple[Shape, Mapping[str, int]] | None:
    """The decision of a usual reply and its repairs; None for any other reply. strictly: the object at its beginning, if there is one."""
    reading = strictly or _first_object(text)
    shape = plain_shape(reading.value, tools) if reading else None
    if reading is None or shape is None:
        return None
    if not strictly and "thought" not in reading.value and has_prose(text[: reading.start]):
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
    if not over and _MATTERS.search(text, rest):
        return None
    return shape, {**repairs, "dropped_tail": end} if says_something(text[end:]) else repairs


def _first_object(text: str) -> Reading | None:
    """The object of a text that begins with reasoning or prose, if nothing else that matters stands before it."""
    reasoning = _REASONING.match(text)
    begin = reasoning.end() if reasoning else 0
    mark = MARK.search(text, begin)
    if not mark or mark.lastgroup != "object" or text[mark.start()] != "{" or _DOUBTFUL.search(text, begin, mark.start()):
        return None
    return strict_object(text, mark.start())


def _is_plain(text: str, end: int, speaker: int) -> bool:
    """Is there nothing in front of another speaker's turn and nothing in it that matters?"""
    if text[end:speaker].strip(REST_OF_NOTHING) or KEY.search(text, end):
        return False
    brace = _BRACE.search(text, end)
    return brace is None or next_speaker(text, end, brace.start()) == speaker
