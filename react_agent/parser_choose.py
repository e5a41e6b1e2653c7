"""Which of a reply's objects is its decision: the first one, if the rest only continues it.

What may follow: an invented observation or another speaker's turn, the same decision again, a premature answer to the call just
made, objects that decide nothing. Two different decisions are a conflict, whatever stands between them, and so are labelled lines
that say something else than the object beside them. Without an object the labels of a text are read.
"""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from react_agent.lenient_json import Guide, Reading, Unreadable
from react_agent.lenient_json_decision import is_decision_like, is_none
from react_agent.lenient_json_keys import role, visible
from react_agent.parser_around import (
    KEY,
    LAST_QUOTE,
    NOT_WORDS,
    QUOTES,
    REST_OF_NOTHING,
    find_outside,
    next_speaker,
    only_quotes_follow,
    only_sets_hold_quotes,
    says_something,
)
from react_agent.parser_find import Finder, Found, Tried
from react_agent.parser_labels import COLON, find_labels, has_labels
from react_agent.parser_names import find_tool
from react_agent.parser_place import Place
from react_agent.parser_refusals import conflict, continued, echoed, keyless, no_object, nothing_decided, swallowed, was_cut
from react_agent.parser_shape import Shape, decided
from react_agent.parser_text import read_text
from react_agent.registry import ToolRegistry
from react_agent.segments import CLOSING

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class Chosen:
    """The decision and where it stands, with the first offset of each kind of repair. found: its object, None for labelled text."""

    shape: Shape
    repairs: dict[str, int]
    found: Found | None = None


@dataclass(slots=True)
class _Seen:
    """What the objects came to so far.

    last_end: where the last object ended since the chosen one. spoke_at: where another speaker's turn begins after it, -1 before
    that. thought: of an object that holds nothing else. weak: an answer under a key that data may have too. reason: why there is
    no decision, if none comes. error: what is wrong, unless all this was reasoning.
    """

    chosen: Chosen | None = None
    last_end: int = 0
    spoke_at: int = -1
    thought: str = ""
    weak: Chosen | None = None
    reason: Unreadable | None = None
    error: Unreadable | None = None


class Choice:
    """Reads one text. guide: of these tools; tried: of the object that it begins with; cut: a limit or a filter cut the text off;
    stopped: the model ended it by itself."""

    __slots__ = ("_begin", "_cut", "_finder", "_guide", "_invented", "_looked", "_seen", "_stopped", "_text", "_tools")

    def __init__(self, text: str, tools: ToolRegistry, guide: Guide, tried: Tried, *, cut: bool, stopped: bool) -> None:
        self._text = text
        self._tools = tools
        self._guide = guide
        self._cut = cut
        self._stopped = stopped
        self._finder = Finder(text, self._guide, tried)
        self._begin = 0
        self._invented: bool | None = None  # whether what now comes is another speaker's, None before one spoke
        self._looked = 0  # where the last object ended
        self._seen = _Seen()

    def make(self) -> Chosen:
        """The one decision of the text. Raises Unreadable."""
        for found in self._finder:
            self._take(found)
        if self._finder.begin != self._begin:
            self._forget_reasoning()
        seen = self._seen
        if seen.error:
            raise seen.error
        if seen.chosen and seen.chosen.found:
            if seen.thought and not seen.chosen.shape.thought:
                seen.chosen.shape = seen.chosen.shape._replace(thought=seen.thought)
            if seen.chosen.found.start > self._begin:
                self._refuse_before(seen.chosen.shape, seen.chosen.found.start)
            self._note_rest(seen.chosen, seen.chosen.found)
            return seen.chosen
        chosen = self._labelled() or (None if seen.reason and seen.reason.reason == "conflict" else seen.weak)
        if not chosen:
            raise seen.reason or self._nothing()
        return chosen

    def _take(self, found: Found) -> None:
        """The next object. What is wrong about it does not matter if a closing tag shows that it was reasoning."""
        if self._finder.begin != self._begin:
            self._forget_reasoning()
        seen = self._seen
        if seen.error:
            return
        try:
            if seen.chosen:
                self._follow(seen.chosen, found)
            else:
                self._first(found)
        except Unreadable as error:
            if not CLOSING.search(self._text, found.end):
                raise
            seen.error = error
            error.forget_frames()

    def _forget_reasoning(self) -> None:
        """When a closing tag comes without its opening one, all that was found before it was reasoning."""
        self._begin = self._finder.begin
        self._invented = None
        self._seen = _Seen()

    # One object after the other.

    def _first(self, found: Found) -> None:
        """Choose an object if it decides something. Raises Unreadable for a decision that cannot be used."""
        seen = self._seen
        if self._is_invented(found):
            return
        if not found.reading:
            if not found.fault or found.fault.reason != "template_echo":
                raise found.fault or conflict(found.start)
            seen.reason = seen.reason or found.fault
            return
        try:
            chosen = self._shaped(found, found.reading)
        except Unreadable as error:
            if is_decision_like(found.reading.value):
                raise
            seen.reason = seen.reason or error
            error.forget_frames()
            return
        if chosen and not chosen.shape.decides:
            seen.thought = seen.thought or chosen.shape.thought
            seen.reason = swallowed(found.reading) or nothing_decided(found.reading.value, found.start)
        elif chosen and chosen.shape.weak and not chosen.shape.tool:
            if seen.weak and not chosen.shape.agrees_with(seen.weak.shape):
                seen.reason = conflict(found.start)
            seen.weak, seen.last_end = chosen, found.end
        elif seen.weak and next_speaker(self._text, seen.last_end, found.start) >= 0:
            raise conflict(found.start)  # if it was the answer, all this is invented
        else:
            seen.chosen, seen.last_end = chosen, found.end

    def _is_invented(self, found: Found) -> bool:
        """Does an object belong to what another speaker says behind a call or an answer in labelled lines?"""
        if self._invented is None:
            speaker = next_speaker(self._text, max(self._begin, self._looked), found.start)
            self._looked = found.end
            self._invented = None if speaker < 0 else has_labels(self._text, self._begin, speaker, self._guide, self._finder.reasoning)
        return self._invented is True

    def _follow(self, chosen: Chosen, found: Found) -> None:
        """Pass over what only continues the chosen decision. Raises Unreadable("conflict")."""
        seen = self._seen
        if seen.spoke_at < 0:
            seen.spoke_at = next_speaker(self._text, seen.last_end, found.start)
        seen.last_end = found.end
        if seen.spoke_at >= 0:
            return
        if not found.reading:
            self._refuse_clash(chosen.shape, found, found.fault.partial if found.fault else {})
            return
        try:
            other = self._shaped(found, found.reading)
        except Unreadable:
            self._refuse_clash(chosen.shape, found, found.reading.value)
            return
        if not other or not other.shape.decides or (other.shape.weak and not other.shape.tool):
            if "surplus_closer" in found.reading.repairs:
                raise continued(found.end)  # a key of the decision stands behind its brace
            return
        if other.shape.agrees_with(chosen.shape):
            return
        if chosen.shape.tool and other.shape.answer is not None and chosen.found and not chosen.found.listed:
            chosen.repairs.setdefault("premature_answer", found.start)
            return
        raise conflict(found.start)

    def _shaped(self, found: Found, reading: Reading) -> Chosen | None:
        """What an object decides that could be read; None for a template and for one that is only quoted. Raises Unreadable."""
        if self._cut and reading.ending != "closed":
            raise was_cut(reading.end)
        if found.quoted:
            self._seen.reason = Unreadable("not_a_decision", found.start, "the object stands in the middle of a sentence; send it alone")
            return None
        if found.recipient and not is_decision_like(reading.value):
            reading = reading._replace(value={"action": found.recipient, "action_input": reading.value})
        repairs = dict(reading.repairs)
        shape = decided(reading.value, reading.ending, Place(self._text, reading.start, reading.end), self._tools, repairs)
        if not shape:
            self._seen.reason = echoed(found.start)
            return None
        return Chosen(shape, repairs, found)

    def _refuse_clash(self, first: Shape, found: Found, partial: Mapping[str, Any]) -> None:
        """A later object that is damaged or cut is a conflict if it was going to act; a cut one may begin the same call again."""
        name = next((value for key, value in partial.items() if role(key) == "action"), None)
        if name is None or (isinstance(name, str) and is_none(name)):
            return
        again = isinstance(name, str) and first.tool is not None and find_tool(name, self._tools) is first.tool
        if not (self._cut and again):
            raise conflict(found.start)

    # What stands around the objects.

    def _labelled(self) -> Chosen | None:
        """What the labels of a text without a deciding object say."""
        repairs: dict[str, int] = {}
        begin, end = self._begin, self._finder.end
        if not COLON.search(self._text, begin, end):
            return None
        found = read_text(self._reply(), begin, end, self._tools, self._guide, stopped=self._stopped, reasoning=self._finder.reasoning,
                          repairs=repairs)  # fmt: skip
        if not found or not found.decides:
            return None
        if half := None if self._text.isascii() else _SURROGATE.search(self._text, begin, end):
            raise Unreadable("bad_syntax", half.start(), "half a surrogate pair is no character; write the character itself")
        return Chosen(found, repairs)

    def _reply(self) -> str:
        """The text with its reasoning blanked, so that offsets stay."""
        if not self._finder.reasoning:
            return self._text
        text, parts, at = self._text, [], 0
        for start, end in self._finder.reasoning:
            parts += [text[at:start], " " * (end - max(at, start))]
            at = max(at, end)
        return "".join([*parts, text[at:]])

    def _refuse_before(self, chosen: Shape, start: int) -> None:
        """Unreadable if another decision stands in front of the object, as labels or as an object without its brace."""
        if (key := self._stray_key(self._begin, start)) >= 0:
            raise Unreadable("bad_syntax", key, "keys of a decision stand outside its object; send one JSON object")
        self._refuse_labels(chosen, self._begin, start, before=True)

    def _refuse_labels(self, chosen: Shape, begin: int, end: int, *, before: bool) -> None:
        """A conflict if lines such as "Action: fetch" before or after the object say something else than it does."""
        if not COLON.search(self._text, begin, end):
            return
        labels, _ = find_labels(self._reply(), begin, end, self._guide)
        for label in labels:
            tool = find_tool(label.line, self._tools) if label.kind == "action" and label.line else None
            other_call = tool is not None and (tool is not chosen.tool or not label.agrees_with(chosen.arguments))
            other_input = label.reading is not None and chosen.tool is not None and label.reading.value != chosen.arguments
            if other_call or other_input or (before and chosen.tool and label.is_answer):
                raise conflict(label.start)

    def _note_rest(self, chosen: Chosen, found: Found) -> None:
        """Record what was dropped after the decision. Raises Unreadable if it may be a part of a string that seems to end too early."""
        text, after = self._text, found.end
        rest = text[after:]
        if not rest.strip(REST_OF_NOTHING):
            return
        self._refuse_continued(found)
        seen = self._seen
        speaker = seen.spoke_at if seen.spoke_at >= 0 else next_speaker(text, seen.last_end, len(text))
        self._refuse_labels(chosen.shape, after, min(speaker, self._finder.end) if speaker >= 0 else self._finder.end, before=False)
        if speaker >= 0:
            chosen.repairs.setdefault("invented_observation", speaker)
        elif "premature_answer" not in chosen.repairs and says_something(rest):
            chosen.repairs.setdefault("dropped_tail", after)

    def _refuse_continued(self, found: Found) -> None:
        """Unreadable if a quote or, outside objects and reasoning, keys of a decision follow.

        Then the object may stand in a text of the real decision that should have ended later, whose quotes were not escaped.
        """
        text, at = self._text, found.end
        if only_quotes_follow(text, found.start, at):
            return
        if text[at : at + 1] in QUOTES and text[found.start - 1 : found.start] != text[at]:
            raise continued(at)
        if (key := self._stray_key(at, self._finder.end)) >= 0:
            raise continued(key)
        line = text.find("\n", at)
        line = min(len(text) if line < 0 else line, self._finder.end)
        speaker = next_speaker(text, at, line)
        end = speaker if speaker >= 0 else line
        if (quote := self._outside(LAST_QUOTE, at, end)) >= 0 and not only_sets_hold_quotes(text, at, end):
            raise continued(quote)

    def _stray_key(self, begin: int, end: int) -> int:
        """Where a decision's key stands in text[begin:end] outside objects and reasoning, -1 when none does."""
        return self._outside(KEY, begin, end)

    def _outside(self, pattern: re.Pattern[str], begin: int, end: int) -> int:
        return find_outside(pattern, self._text, begin, end, itertools.chain(self._finder.passed, self._finder.reasoning))

    def _nothing(self) -> Unreadable:
        """Why there is no decision at all."""
        finder = self._finder
        if visible(NOT_WORDS.sub("", self._reply()[self._begin : finder.end])).strip():
            if finder.keyless >= 0:
                return keyless(finder.keyless)
            return nothing_decided({}, finder.data) if finder.data >= 0 else no_object(self._text, self._begin)
        if finder.reasoning:
            return Unreadable("only_thinking", finder.end, "the reply holds only reasoning")
        return Unreadable("empty", 0, "the reply is empty")
