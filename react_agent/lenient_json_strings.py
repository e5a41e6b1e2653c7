"""Where a string ends that may hold unescaped quotes of its own.

A quote ends a string only when what follows fits the containers that are open: the next key, an item, the right closers, the
end. Inside a tool's input there must be one reading only, since the wrong one would run: there the keys that may follow are the
tool's own parameters, the quotes inside must pair up, and text that looks like JSON is refused.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from react_agent.lenient_json_escapes import decode
from react_agent.lenient_json_keys import INVISIBLE, role, strong_role
from react_agent.lenient_json_reading import Guide
from react_agent.lenient_json_tokens import CLOSERS, CUT_KEY, KEY_AHEAD, QUOTE_REPAIR, Unreadable, char_at, name_of, peek, text_ends

Zone = Literal["thought", "answer", "input"]  # how much may be inferred: freely, with paired quotes, only what is certain
Verdict = Literal["end", "inner", "doubt"]

_NEXT = {opener: re.compile(rf"[^\\{closers}]*+(?:\\.[^\\{closers}]*+)*+[{closers}]", re.DOTALL) for opener, closers in CLOSERS.items()}
_OVER_ESCAPED_END = re.compile(r'(?<!\\)(?:\\{4})*+\\"')  # \" that is not an escaped quote of the string itself
_CURLY_NEXT = re.compile(r"[ \t\r\n]*+[,，][ \t\r\n]*+[“”„]")
_JOINED = re.compile(r"[\"'][ \t\r\n]*+\+[ \t\r\n]*+[\"']")
_CONTROL = re.compile(r"[\x00-\x1f]")
_MOST_QUOTES = 5000  # inside one string
_MOST_TRIPLES = 1000
_DECISION_KEY = re.compile(r'"(?:thought|action|action_input|final_answer)"\s*:')
_AFTER_ROOT = re.compile(rf"[ \t\r{INVISIBLE}]*+(?:\Z|\n|```|<|[,\]}})])")


@dataclass(slots=True)
class Frame:
    """A container that is being read. key: the member whose value comes next, None between members, and where it stands. commas: how
    many since the last value, and where the last one stands."""

    container: dict[str, Any] | list[Any]
    key: str | None = None
    key_at: int = 0
    commas: int = 0
    comma_at: int = 0


class Strings:
    """Reads the strings of one text.

    frames: the open containers, shared with the reader. repairs: the first offset of each kind, shared too. guide: tells a tool's
    parameters. as_input: the text is a tool's input by itself.
    """

    __slots__ = ("_frames", "_guide", "_inner", "_input_level", "_named", "_open_pair", "_repairs", "_root", "_text", "_zone", "inferred")

    def __init__(self, text: str, frames: list[Frame], repairs: dict[str, int], guide: Guide, *, as_input: bool) -> None:
        self._text = text
        self._frames = frames
        self._repairs = repairs
        self._root = frames[0].container
        self._guide = guide
        self._input_level = 1 if as_input else 2  # how many frames are open directly inside the tool's input
        self._named: tuple[object, Collection[str]] | None = None
        self._zone: Zone = "input"
        self._inner = -1  # where the first quote is that turned out to be text
        self._open_pair = False  # a quote inside the string that waits for its partner
        self.inferred = False

    def read(self, pos: int, zone: Zone) -> tuple[str, int]:
        """The string that begins at pos, and the offset after its closing quote. Raises Unreadable."""
        text, quote = self._text, self._text[pos]
        self._zone, self._inner, self._open_pair = zone, -1, False
        if quote == "\\":
            return self._over_escaped(pos)
        if text.startswith("```", pos):
            raise Unreadable("bad_syntax", pos, "a code fence stands where a value belongs; put the code between double quotes")
        if quote in QUOTE_REPAIR:
            self._repairs.setdefault(QUOTE_REPAIR[quote], pos)
        if quote in "\"'" and text.startswith(quote * 3, pos) and (found := self._triple(pos, quote * 3)):
            return found
        matcher, at = _NEXT[quote], pos + 1
        for _ in range(_MOST_QUOTES):
            match = matcher.match(text, at)
            if not match:
                break
            end = match.end() - 1
            after = self._after(at, end)
            if after:
                return self._finish(pos + 1, end), after
            at = end + 1
        if self._inner >= 0:
            raise self._refusal(cut=True)
        raise Unreadable("truncated", pos, "the reply ends inside a string", cut=True)

    def parameters(self) -> Collection[str]:
        """The names of the chosen tool's parameters; of all tools while the name has not been read."""
        root, name = self._root, None
        if self._input_level == 2 and isinstance(root, dict):
            name = next((value for key, value in root.items() if role(key) == "action"), None)
        if self._named is None or self._named[0] is not name:
            self._named = name, self._guide(name)
        return self._named[1]

    def _after(self, at: int, end: int) -> int:
        """Where the text goes on if the quote at end is the string's own, else 0. at: where the part since the last quote began."""
        verdict = self._verdict(end + 1)
        if self._zone == "thought":
            return end + 1 if verdict == "end" else self._note_inner(end)
        if self._is_apostrophe(end):
            self._repairs.setdefault("unescaped_quote", end)
            return 0
        if self._curly_partner(at, end) and (verdict == "inner" or (self._zone == "input" and _CURLY_NEXT.match(self._text, end + 1))):
            self._inner = self._inner if self._inner >= 0 else end
            if verdict != "inner":
                raise self._refusal()
            return 0
        if verdict == "end" and not self._open_pair and not self._begins_next(at, end):
            return end + 1
        if self._zone == "input" and verdict != "inner":
            self._inner = self._inner if self._inner >= 0 else end
            raise self._refusal()
        return self._note_inner(end)

    def _curly_partner(self, at: int, end: int) -> bool:
        """Does a curly quote in text[at:end] wait for a partner, which is often typed as a straight quote? Notes one that is the partner of
        the straight quote before it, and a low one, which always has one."""
        text = self._text
        low, opened, closed = text.rfind("„", at, end), text.rfind("“", at, end), text.rfind("”", at, end)
        if low >= 0 and opened < 0 and closed < 0:
            self._open_pair = True
        elif self._open_pair and closed >= 0 and opened < 0:
            self._open_pair = False
        waits = opened > closed and low < 0 and not self._open_pair
        return waits and text[opened + 1].isalnum() and not text[end - 1].isspace()

    def _begins_next(self, at: int, end: int) -> bool:
        """Does a comma in front show that a quote begins the next string, and that this one was never closed?"""
        part = self._text[at:end].strip()
        return (part in (",", ":") and self._inner >= 0) or (part.endswith(",") and self._text[end + 1 : end + 2] in CLOSERS)

    def _note_inner(self, end: int) -> int:
        """Take the quote at end as text; not 0 only when it is the string's own after all, typed twice."""
        text, first = self._text, self._inner < 0
        self._inner = end if first else self._inner
        joined = not self._open_pair and _JOINED.match(text, end)  # "a" + "b" is no text but two
        if joined or (self._zone == "input" and not self._is_turned_right(end)):
            raise self._refusal()
        if self._open_pair:
            self._open_pair = False
        elif not self._means_inches(end):
            if first and self._zone == "answer" and text[end + 1 : end + 2] == text[end] and self._verdict(end + 2) == "end":
                self._inner = -1
                self._repairs.setdefault("doubled_quote", end)
                return end + 2
            self._open_pair = True
        return 0

    def _means_inches(self, end: int) -> bool:
        """Is it a quote as in 32" wide, which has no partner?"""
        after = self._text[end + 1 : end + 2]
        return self._text[end - 1].isdigit() and not after.isalnum() and after != self._text[end]

    def _is_turned_right(self, end: int) -> bool:
        """Does a quote that should open a pair look like one that opens, or one that should close it like one that closes?"""
        before, after = self._text[end - 1], self._text[end + 1 : end + 2]
        if self._open_pair:
            return not before.isspace() and not after.isalnum()
        return before.isdigit() or not before.isalnum() or after.isalnum()

    def _is_apostrophe(self, end: int) -> bool:
        text = self._text
        return text[end] in "'’" and text[end - 1].isalnum() and text[end + 1 : end + 2].isalnum()

    def _finish(self, start: int, end: int) -> str:
        body = self._text[start:end]
        if self._inner >= 0:
            if self._zone != "answer" and _DECISION_KEY.search(body):
                raise self._refusal()  # a whole decision may be quoted in it, or this one may be a part of the text
            self.inferred = True
            self._repairs.setdefault("unescaped_quote", self._inner)
        if control := _CONTROL.search(body):
            self._repairs.setdefault("raw_control", start + control.start())
        return decode(body, start, self._repairs, strict=self._zone == "input") if "\\" in body else body

    def _refusal(self, *, cut: bool = False) -> Unreadable:
        where = next((frame.key for frame in reversed(self._frames) if frame.key), None)
        what = f"a quote inside {where[:40]}" if where else "a quote inside a string"
        return Unreadable("unescaped_quote", self._inner, f'{what} is not escaped; write \\" for each one', cut=cut)

    def _verdict(self, after: int) -> Verdict:
        """What the text after a quote says about it."""
        frames, inner = self._frames, self._inner >= 0
        level, pos = len(frames), after
        while True:
            pos = peek(self._text, pos)
            char = char_at(self._text, pos)
            if char == ",":
                return self._after_comma(pos + 1, level, closed=level < len(frames))
            if char != "}" and char != "]":
                return self._after_nothing(after, pos, level)
            if (char == "}") != isinstance(frames[level - 1].container, dict):
                return "doubt" if inner else "end"  # the reader judges a closer that does not match
            level, pos = level - 1, pos + 1
            if level == 0:
                return "end" if not inner or self._zone == "answer" or _AFTER_ROOT.match(self._text, pos) else "doubt"

    def _after_comma(self, pos: int, level: int, closed: bool) -> Verdict:
        inner = self._inner >= 0
        if isinstance(self._frames[level - 1].container, list):
            return "doubt" if inner else "end"
        pos = peek(self._text, pos)
        key = KEY_AHEAD.match(self._text, pos)
        if key and self._known(name_of(key), level):
            return "end"
        if key and not key["shared"]:
            if inner:
                return "doubt"
            return "end" if not key["bare"] or self._has_bare_keys(level) else "inner"
        if inner and self._zone == "answer" and level == 1 and char_at(self._text, pos) == "}" and _AFTER_ROOT.match(self._text, pos + 1):
            return "end"
        if char_at(self._text, pos) in ("", "}", ",") or CUT_KEY.match(self._text, pos):
            return "inner" if inner else "end"
        return "doubt" if closed else "inner"

    def _after_nothing(self, after: int, pos: int, level: int) -> Verdict:
        """No comma and no closer: the end of the text, a colon, or the next member or item whose comma is missing."""
        text, inner, closed = self._text, self._inner >= 0, level < len(self._frames)
        char = char_at(text, pos)
        if not char:
            return "inner" if inner else "end"
        if char == ":":
            return "doubt"
        new_line = not inner and "\n" in text[after:pos]
        if not isinstance(self._frames[level - 1].container, list):
            fits = self._member_follows(after, pos, level, new_line)
        elif char in CLOSERS and not new_line:
            return "doubt"
        else:
            fits = char in CLOSERS
        if fits or (level == 1 and not inner and text_ends(text, pos)):
            return "end"
        return "doubt" if closed else "inner"

    def _member_follows(self, after: int, pos: int, level: int, new_line: bool) -> bool:
        key = KEY_AHEAD.match(self._text, pos)
        if not key:
            return False
        if not self._known(name_of(key), level):
            return new_line and not key["bare"]
        if key["shared"] and self._zone == "thought" and not self._text[max(0, after - 20) : after - 1].rstrip().endswith("{"):
            self.inferred = True  # the quote that ends the thought is the next key's own
            return True
        return not key["bare"] or new_line

    def _known(self, key: str, level: int) -> bool:
        """May this key follow here, whatever the text before it looks like?"""
        if level == self._input_level:
            return key in self.parameters() and key not in self._frames[level - 1].container
        return level == 1 and strong_role(key) is not None and key not in self._frames[0].container and key != self._frames[0].key

    def _has_bare_keys(self, level: int) -> bool:
        return self._text[self._frames[level - 1].key_at] not in CLOSERS

    def _triple(self, pos: int, quotes: str) -> tuple[str, int] | None:
        """Three quotes, as in Python: all of the text between them."""
        at = pos + 3
        for _ in range(_MOST_TRIPLES):
            end = self._text.find(quotes, at)
            if end < 0:
                break
            if self._verdict(end + 3) == "end":
                self._repairs.setdefault("triple_quotes", pos)
                return self._finish(pos + 3, end), end + 3
            at = end + 1
        return None

    def _over_escaped(self, pos: int) -> tuple[str, int]:
        r"""A string between \" and \": the text was escaped once too often."""
        match = _OVER_ESCAPED_END.search(self._text, pos + 2)
        if not match:
            raise Unreadable("truncated", pos, "the reply ends inside a string", cut=True)
        self._repairs.setdefault("over_escaped", pos)
        body = self._text[pos + 2 : match.end() - 2]
        once = re.sub(r'\\([\\"/])', r"\1", body)
        return decode(once, pos + 2, self._repairs, strict=self._zone == "input") if "\\" in once else once, match.end()
