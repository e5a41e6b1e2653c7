"""The objects of a reply that may be its decision, in order.

Braces in prose are passed over, objects in reasoning and after the end of the model's turn do not count, and nothing inside an
object that could not be read is ever looked at: an inner object of a damaged outer one is data, not a decision.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from react_agent.lenient_json import Guide, Reading, Unreadable, read_object, reopened, strict_object
from react_agent.lenient_json_decision import may_decide
from react_agent.lenient_json_keys import read_keys
from react_agent.segments import CHANNEL_END, MARK, reasoning_end

# Characters that may be read in vain, besides four times the text: what bounds the work for a text of broken objects.
_PATIENCE_AT_LEAST = 20_000
_ATTEMPT = 500  # what an object costs besides its characters
_DATA = 100  # what one costs that is no decision, and was read at once
_OPENERLESS = re.compile(r'^[ \t\ufeff\u200b]*+(?=["“](?:thought|action|action_input|final_answer)["”]\s*+[:：])', re.MULTILINE)
_SHORTEST_KEY = len('"action":')
_BRACES = re.compile(r'"(?:[^"\\]|\\.)*+\\?(?:"|\Z)|[{}]', re.DOTALL)
_INPUT_LABEL = re.compile(
    r"(?:^|\n)[\W_]*+(?:(?:(?:action|tool)[ _]?)?input|arguments?|(?:行动|动作|工具)?输入|参数)[*_ \t]*+[:：][*_\s]*+(?:```\w*\s*+)?\Z",
    re.IGNORECASE,
)
_TO_FUNCTION = re.compile(r"\bto=(?:functions\.)?(\w+)")
_PROSE = re.compile(r"[^\W\d_]{2}")
_TOKENS = re.compile(r"<[^<>]{1,60}>|\[/?[A-Z_]+\]|```\w*|~~~\w*")
_SENTENCE_END = re.compile(r"[`*_)\s]*+[.!?。！？]")
_QUOTES = ('"', "'", "“", "”")
_NEAR = 200  # characters of a line that are looked at around an object


class Found(NamedTuple):
    """One object: its reading, or why it could not be read. listed: it begins a list. recipient: the tool that a channel's header
    names for it. quoted: it stands in the middle of a sentence."""

    start: int
    end: int
    reading: Reading | None = None
    fault: Unreadable | None = None
    listed: bool = False
    quoted: bool = False
    recipient: str = ""


class Tried(NamedTuple):
    """What has been tried with the object at start already: its reading by the standard decoder, if that was one, and the one with
    repairs, or why there is none. unmarked: how far from the text's beginning there is no MARK."""

    start: int
    strictly: Reading | None = None
    repaired: Reading | Unreadable | None = None
    unmarked: int = 0


class Finder:
    """Finds the objects of one text; iterate once.

    begin, end: where the reply is, as far as the search has come; objects that were found before begin were part of the
    reasoning after all. reasoning: the parts between that are none of the reply either. passed: all objects, data included. data:
    where the first object stands that is no decision, keyless: the first in which no key could be read, -1 without one.
    """

    __slots__ = (
        "_guide", "_patience", "_pos", "_recipient", "_spoken", "_text", "_tried", "begin", "data", "end", "keyless", "passed",
        "reasoning",
    )  # fmt: skip

    def __init__(self, text: str, guide: Guide, tried: Tried) -> None:
        self.begin = 0
        self.end = len(text)
        self.reasoning: list[tuple[int, int]] = []
        self.passed: list[tuple[int, int]] = []
        self.data = -1
        self.keyless = -1
        self._text = text
        self._tried = tried
        self._guide = guide
        self._pos = 0
        self._spoken = False  # there was more than tags and blanks
        self._patience = _PATIENCE_AT_LEAST + 4 * len(text)
        self._recipient = ""

    def __iter__(self) -> Iterator[Found]:
        text = self._text
        while self._pos < self.end:
            match = MARK.search(text, max(self._pos, self._tried.unmarked))
            stop = match.start() if match else len(text)
            gap = stop - self._pos
            if gap > _SHORTEST_KEY and not self._spoken and (bare := _OPENERLESS.search(text, self._pos, stop)):
                start = bare.end()
                found = self._object(start, opener=False)
            elif not match:
                return
            elif match.lastgroup == "object":
                start = stop
                found = self._object(start, opener=True)
            else:
                self._spoken = self._spoken or bool(_PROSE.search(text, self._pos, stop))
                self._tag(match)
                continue
            self._spoken = True
            self.passed.append((start, self._pos))
            if found:
                yield found

    # Tags.

    def _tag(self, match: re.Match[str]) -> None:
        """Go on after what a tag begins or ends."""
        kind, text = match.lastgroup, self._text
        self._pos = match.end()
        if kind == "open":
            self._reasoning(match.start(), reasoning_end(text, match))
        elif kind == "close":  # the opening tag was in the prompt: all before it was reasoning
            self.reasoning.append((self.begin, self._pos))
            self._reply_begins()
        elif kind == "channel":
            self._channel(match, match["name"].casefold())
        elif kind == "turn":
            if match["role"].casefold() not in ("", "assistant", "model"):
                self.end = match.start()
        elif self._spoken and not CHANNEL_END.match(text, match.end()):
            self.end = match.start()

    def _channel(self, match: re.Match[str], name: str) -> None:
        if name == "analysis":
            closer = CHANNEL_END.search(self._text, match.end())
            self._reasoning(match.start(), closer.start() if closer else -1)
            return
        if name == "final":
            self._reply_begins()
        to = _TO_FUNCTION.search(match["header"])
        self._recipient = to[1] if to else ""

    def _reasoning(self, start: int, end: int) -> None:
        self.reasoning.append((start, end if end >= 0 else len(self._text)))
        if end < 0:
            self.end = start
        else:
            self._pos = end

    def _reply_begins(self) -> None:
        self.begin = self._pos
        self._spoken = False

    # Objects.

    def _object(self, start: int, *, opener: bool) -> Found | None:
        """The object at start, unless it is data; moves on behind it, or to the end when nothing after it may be looked at."""
        text, gap = self._text, self._pos
        before = text[max(gap, start - _NEAR) : start] if start > gap else ""
        if opener and (":" in before or "：" in before) and _INPUT_LABEL.search(before):
            self._skip_input(start)
            return None
        reading = self._strict(start) if opener and text[start] == "{" else None
        if reading is None:
            try:
                reading = self._repaired(start, opener)
            except Unreadable as fault:
                return self._fault(start, fault)
        self._pos = reading.end
        if not may_decide(reading.value) and not self._recipient:
            self.data = start if self.data < 0 else self.data
            self._patience -= _DATA
            return self._fault(start, _too_many(start)) if self._patience < 0 else None
        self._patience -= _ATTEMPT // 2
        if self._patience < 0:
            return self._fault(start, _too_many(start))
        if not before:
            return Found(start, reading.end, reading, recipient=self._recipient)
        listed = before.rstrip().endswith("[")
        return Found(start, reading.end, reading, None, listed, self._is_quoted(before, reading), self._recipient)

    def _is_quoted(self, before: str, reading: Reading) -> bool:
        """Has a decision without a thought prose in front and behind, on its own line?"""
        if "thought" in read_keys(reading.value).strong:
            return False
        text, end = self._text, reading.end
        if text[max(0, end - _NEAR) : end].rstrip(" \t").endswith("\n"):
            return False  # without its last brace, it ended on a line before
        if reading.ending == "cut":
            end = text.rfind("}", reading.start, end) + 1 or end  # what was left out behind it may be the sentence
        after = text[end : end + _NEAR].partition("\n")[0]
        if before.endswith(_QUOTES) and after.startswith(_QUOTES) and has_prose(after):
            return True
        return has_prose(before.rpartition("\n")[2]) and (has_prose(after) or _SENTENCE_END.match(after) is not None)

    def _strict(self, start: int) -> Reading | None:
        text = self._text
        reading = self._tried.strictly if start == self._tried.start else strict_object(text, start)
        if reading and (reading.end == len(text) or not reopened(text, reading.end)):
            return reading
        return None

    def _repaired(self, start: int, opener: bool) -> Reading:
        if self._patience < 0:
            raise _too_many(start)
        self._patience -= _ATTEMPT
        tried = self._tried.repaired if start == self._tried.start else None
        if tried is None:
            return read_object(self._text, start, self._guide, opener=opener)
        if isinstance(tried, Unreadable):
            raise tried
        return tried

    def _fault(self, start: int, fault: Unreadable) -> Found | None:
        """A damaged decision ends the search. Damaged data and templates are passed over if their braces tell where they end."""
        fault.forget_frames()
        self._patience -= len(self._text) - start if fault.cut or fault.reason == "unescaped_quote" else fault.offset - start
        decision = bool(read_keys(fault.keys).strong)
        end = -1 if decision and fault.reason != "template_echo" else self._braces_end(start)
        if end < 0 or self._patience < 0:
            self._pos = self.end = len(self._text)
            return Found(start, self._pos, fault=fault)
        self._pos = end
        if fault.reason == "template_echo":
            return Found(start, end, fault=fault)
        self.data = start if self.data < 0 else self.data
        self.keyless = start if self.keyless < 0 and not fault.keys else self.keyless
        return None

    def _braces_end(self, start: int) -> int:
        depth = 0
        for match in _BRACES.finditer(self._text, start):
            depth += (match[0] == "{") - (match[0] == "}")
            if not depth:
                return match.end()
        return -1

    def _skip_input(self, start: int) -> None:
        """Pass over an object that a label in front names as a tool's input."""
        self._patience -= _ATTEMPT
        try:
            self._pos = read_object(self._text, start, self._guide, as_input=True).end if self._patience > 0 else self.end
        except Unreadable:
            self._pos = self.end


def _too_many(start: int) -> Unreadable:
    return Unreadable("bad_syntax", start, "there are too many objects; send one JSON object and nothing else")


def has_prose(line: str) -> bool:
    return bool(_PROSE.search(_TOKENS.sub(" ", line)))
