"""The tolerant reader: one pass over one object, with a stack of its own and a name for each repair."""

import json
import re
from typing import Any

from react_agent.lenient_json_keys import role, strong_role
from react_agent.lenient_json_members import read_key
from react_agent.lenient_json_reading import REOPENED, Ending, Guide, Reading, reopened
from react_agent.lenient_json_strict import MAX_DEPTH, strict_container
from react_agent.lenient_json_strings import Frame, Strings, Zone
from react_agent.lenient_json_tokens import BLANK, CLOSERS, NOISE, NULL, ORDINARY, QUICK_ITEM, QUICK_MEMBER, WIDE, Unreadable, text_ends
from react_agent.lenient_json_values import NUMBER_STARTS, read_number, read_word

_MOST_STEPS = 50_000  # of those that take more than the standard decoder or a look at a plain member
_MOST_COMMAS = 50  # in a row
_STRICT_TRIES = 4  # containers that the standard decoder is asked to read, as long as it fails
_LAST_BRACE = re.compile(r"\s*+\}\s*+(?:\Z|[`~<])")
_BRACE_NEXT = re.compile(r"\]\s*+\}")
_CLOSER = re.compile(r"\s*+[}\]]")
_HIDDEN = re.compile(r"['`’”]\s*+[,}\]]")


class Reader:
    """Reads one object; run() once. as_input: the object is a tool's input by itself, not a decision. fault: see read_object()."""

    __slots__ = (
        "_as_input", "_fault", "_frames", "_guessed", "_last_key", "_led", "_pos", "_repairs", "_root", "_skipped", "_start", "_strings",
        "_text", "_top", "_tries",
    )  # fmt: skip

    def __init__(self, text: str, start: int, guide: Guide, *, opener: bool, as_input: bool, fault: int = 0) -> None:
        self._root: dict[str, Any] = {}
        self._text = text
        self._start = start
        self._pos = start + opener
        self._top = Frame(self._root)
        self._frames = [self._top]
        self._repairs: dict[str, int] = {}
        self._as_input = as_input
        self._fault = fault
        self._guessed = -1  # where in the input a closer or a comma was wrong
        self._last_key = -1  # of those in the input whose containers were closed
        self._led = -1  # the last comma in the input that stands in front of its first member
        self._tries = _STRICT_TRIES
        self._skipped = 0, 0  # the last comment or the like
        self._strings = Strings(text, self._frames, self._repairs, guide, as_input=as_input)
        if not opener:
            self._repairs["missing_opener"] = start
        elif text[start] != "{":
            self._repairs["full_width"] = start

    def run(self) -> Reading | Unreadable:
        """The object, or why it cannot be read."""
        try:
            return self._read()
        except Unreadable as error:
            if error.reason != "truncated" or len(self._frames) > 1 or not self._root or self._as_input:
                return self._given_up(error)
        try:
            return self._unfinished("cut")
        except Unreadable as error:
            return self._given_up(error)

    def _given_up(self, error: Unreadable) -> Unreadable:
        """The error with what had been read."""
        error.partial = self._root
        error.keys = (*self._root, self._top.key) if self._top.key else tuple(self._root)
        error.forget_frames()
        return error

    def _read(self) -> Reading:
        frames, text = self._frames, self._text
        for _ in range(_MOST_STEPS):
            if not frames:
                return Reading(self._root, self._start, self._pos, inferred=self._strings.inferred, repairs=self._repairs)
            frame = frames[-1]
            if frame.key is None and isinstance(frame.container, dict):
                self._quick_members(frame, frame.container)
            char = text[self._pos : self._pos + 1]
            if char not in ORDINARY:
                self._skip()
                char = self._char(self._pos)
            if not char:
                return self._unfinished("cut" if frame.commas or frame.key is not None or self._is_hidden() else "open")
            if frame.key is not None:
                self._value(frame, char)
            elif isinstance(frame.container, list):
                self._item(frame, frame.container, char)
            elif char not in ",}]" and text_ends(text, self._pos):
                return self._unfinished("cut" if frame.commas or self._is_hidden() else "ended")
            else:
                self._member(frame, frame.container, char)
        raise Unreadable("bad_syntax", self._pos, "the object has too many members that are not plain JSON")

    def _unfinished(self, ending: Ending) -> Reading:
        """What there is of an object whose last brace is missing."""
        if len(self._frames) > 1 or self._as_input:
            raise Unreadable("truncated", self._pos, "the reply ends before all brackets are closed", cut=True)
        if self._led >= 0:
            raise Unreadable("bad_syntax", self._led, "one brace is missing, perhaps in front of this comma; write all of them")
        self._repairs.setdefault("missing_closer", self._pos)
        if ending == "cut":
            self._pos = len(self._text)
        return Reading(self._root, self._start, self._pos, ending, self._strings.inferred, self._repairs)

    def _is_hidden(self) -> bool:
        """Has what was skipped just now the end of a string in it, so that it may be no comment?"""
        start, end = self._skipped
        return end == self._pos and _HIDDEN.search(self._text, start, end) is not None

    def _skip(self) -> None:
        """Go past blanks, comments and invisible characters."""
        text = self._text
        blank = BLANK.match(text, self._pos)
        self._pos = pos = blank.end() if blank else self._pos
        noise = NOISE.match(text, pos) if pos < len(text) and text[pos] not in ORDINARY else None
        if noise and noise.end() > pos:
            name = "comment" if text[pos] in "/#<" else "over_escaped" if text[pos] == "\\" else "invisible"
            self._repairs.setdefault(name, pos)
            self._pos = noise.end()
            self._skipped = pos, self._pos

    def _char(self, pos: int) -> str:
        char = self._text[pos : pos + 1]
        if char in WIDE:
            self._repairs.setdefault("full_width", pos)
            return WIDE[char]
        return char

    # Members and items: the commas and closers between values.

    def _member(self, frame: Frame, container: dict[str, Any], char: str) -> None:
        pos = self._pos
        if char == ",":
            if frame.commas or not container:
                self._repairs.setdefault("extra_comma", pos)
            if not container and len(self._frames) > 1:
                self._led = pos
            frame.commas += 1
            frame.comma_at = pos
            if frame.commas > _MOST_COMMAS:
                raise Unreadable("bad_syntax", pos, "members are missing between the commas")
            self._pos = pos + 1
        elif char == "}" or char == "]":
            self._close(frame, char)
        elif char == "{" and not container and len(self._frames) == 2 and not self._as_input:
            self._repairs.setdefault("surplus_opener", pos)
            self._pos = pos + 1
        else:
            follows = bool(container) and not frame.commas
            if follows:
                self._note_guess("missing_comma", pos)
            frame.key, self._pos = read_key(self._text, pos, self._repairs)
            frame.key_at = pos
            if follows and not frame.key and self._pos == len(self._text) and self._text[pos] in CLOSERS:
                raise Unreadable("unescaped_quote", pos, "text follows a value; a quote before it is not escaped, or a comma is missing")
            if follows and len(self._frames) > 1 and "half_quoted_key" in self._repairs and self._text[pos] not in CLOSERS:
                raise Unreadable("bad_syntax", pos, "a comma and a quote are missing before a key of the input")

    def _item(self, frame: Frame, container: list[Any], char: str) -> None:
        if not frame.commas and container and char == ",":
            char = self._quick_items(container)
        pos = self._pos
        if char == ",":
            if frame.commas or not container:
                raise Unreadable("bad_syntax", pos, "an element is missing between two commas of a list")
            frame.commas, frame.comma_at = 1, pos
            self._pos = pos + 1
        elif char == "]" or char == "}":
            self._close(frame, char)
        else:
            if container and not frame.commas:
                self._missing_item_comma(container, char)
            self._value(frame, char)

    def _quick_items(self, container: list[Any]) -> str:
        """Read plain strings and whole numbers, each with its comma in front, as long as another comma follows; the character then."""
        text, pos = self._text, self._pos
        while match := QUICK_ITEM.match(text, pos):
            container.append(int(match[2]) if match[1] is None else match[1])
            pos = match.end()
        self._pos = pos
        return self._char(pos)

    def _missing_item_comma(self, container: list[Any], char: str) -> None:
        """Between items a comma may be missing where a bracket or a new line shows that there are two."""
        before = self._text[max(0, self._pos - 200) : self._pos]
        if char not in "{[" and not isinstance(container[-1], dict | list) and "\n" not in before[len(before.rstrip()) :]:
            raise Unreadable("bad_syntax", self._pos, "a comma is missing between two elements of a list")
        self._note_guess("missing_comma", self._pos)

    def _note_guess(self, repair: str, pos: int) -> None:
        self._repairs.setdefault(repair, pos)
        self._guessed = pos if len(self._frames) > 1 else self._guessed

    def _close(self, frame: Frame, char: str) -> None:
        """Close the innermost container, or what the closer can only have meant."""
        frames, pos = self._frames, self._pos
        if (char == "}") == isinstance(frame.container, dict):
            if frame.commas and frame.container:
                self._repairs.setdefault("trailing_comma", frame.comma_at)
            self._pos = pos + 1
            self._pop()
        elif len(frames) > 1 and (char == "}") == isinstance(frames[-2].container, dict):
            if not frame.container:
                raise Unreadable("bad_syntax", pos, "one of two brackets is the wrong one; close [ with ] and { with }")
            if isinstance(frame.container, list) and len(frame.container) == 1 and isinstance(frame.container[0], list):
                raise Unreadable("bad_syntax", pos, "one bracket is missing or one is too many: [[ needs ]] at its end")
            if self._is_direct() and not self._goes_on(pos + 1):
                raise Unreadable("bad_syntax", pos, "one bracket seems to close two; write all of them")
            self._note_guess("mismatched_closer", pos)
            self._pop()  # its own closer is missing, but its parent's, which comes next, fixes where it ended
        elif char == "]" and len(frames) <= 2:
            self._stray_bracket()
        elif char == "]" and frame.container and self._is_direct() and self._brace_ends_input(pos):
            self._note_guess("mismatched_closer", pos)
            self._pos = pos + 1
            self._pop()
        else:
            raise Unreadable("bad_syntax", pos, f"{char} closes nothing that is open")

    def _is_direct(self) -> bool:
        """Does the innermost container stand in the input itself?"""
        if self._as_input:
            return len(self._frames) == 2
        return len(self._frames) == 3 and role(self._top.key or "") == "input"

    def _brace_ends_input(self, pos: int) -> bool:
        """Is the ] at pos followed by a brace, and that by what follows an input?"""
        brace = _BRACE_NEXT.match(self._text, pos)
        return brace is not None and self._goes_on(brace.end())

    def _goes_on(self, pos: int) -> bool:
        """Does a key of the decision follow, or a closer?"""
        return self._decision_follows(pos) or _CLOSER.match(self._text, pos) is not None

    def _decision_follows(self, pos: int) -> bool:
        """Does a key of the decision follow, which is no parameter of its tool?"""
        follows = REOPENED.match(self._text, pos)
        return follows is not None and strong_role(follows[1]) is not None and follows[1] not in self._strings.parameters()

    def _stray_bracket(self) -> None:
        """A ] where no list is open: it was meant to close the input if a key of the decision or its last brace follows. Else it is one too
        many, which only a decision may have: in its input a [ may be missing."""
        self._pos += 1
        last = self._decision_follows(self._pos) or _LAST_BRACE.match(self._text, self._pos)
        if last and len(self._frames) == 2 and self._frames[1].container and not self._as_input:
            self._repairs.setdefault("mismatched_closer", self._pos - 1)
            self._pop()
        elif len(self._frames) == 2 or self._as_input:
            raise Unreadable("bad_syntax", self._pos - 1, "a ] closes no list; write its [ too, or leave it out")
        else:
            self._repairs.setdefault("surplus_closer", self._pos - 1)

    def _pop(self) -> None:
        frames = self._frames
        done = frames.pop()
        if frames:
            self._last_key = max(self._last_key, done.key_at)
            self._store(done.container)
        elif self._pos < len(self._text) and not self._as_input and reopened(self._text, self._pos):
            if 0 <= self._guessed <= self._last_key:
                raise Unreadable("bad_syntax", self._guessed, "a bracket or a comma is wrong here, and later a brace is one too many")
            self._repairs.setdefault("surplus_closer", self._pos - 1)
            done.commas = 0
            frames.append(done)

    def _quick_members(self, frame: Frame, container: dict[str, Any]) -> None:
        """Read plain keys, each with the one comma that belongs before it, and their plain strings, as long as they come."""
        text, repairs, depth = self._text, self._repairs, len(self._frames)
        while match := QUICK_MEMBER.match(text, self._pos):
            comma, quote, key, string, last, after = match.groups()
            if (comma != "") + frame.commas != bool(container):
                return
            if quote == "'":
                repairs.setdefault("single_quotes", match.start(2))
            if not string or (last and depth > 1 and (depth > 2 or after is None)) or key in container:
                frame.key, frame.key_at, self._pos = key, match.start(2), match.start(4) if string else match.end()
                return
            if string[0] == "'":
                repairs.setdefault("single_quotes", match.start(4))
            container[key] = json.loads(string) if "\\" in string else string[1:-1]
            frame.commas, frame.key_at, self._pos = 0, match.start(2), match.end()

    # Values.

    def _value(self, frame: Frame, char: str) -> None:
        text, pos = self._text, self._pos
        value: object
        if char in CLOSERS or (char == "\\" and text.startswith('\\"', pos)):
            value, self._pos = self._strings.read(pos, self._zone(frame))
        elif char == "{" or char == "[":
            holds_fault = pos < self._fault and text.find("}" if char == "{" else "]", pos, self._fault) < 0
            strict = strict_container(text, pos, self._repairs, []) if self._tries and not holds_fault else None
            if not strict:
                self._tries = max(0, self._tries - 1)
                self._push({} if char == "{" else [])
                return
            value, self._pos = strict
        elif char == "n" and NULL.match(text, pos):
            value, self._pos = None, pos + 4
        elif char in NUMBER_STARTS and not text.startswith("...", pos):
            value, self._pos = read_number(text, pos)
        elif char in "},]" and self._may_lack_value(frame):
            value = None
        else:
            value, self._pos = read_word(text, pos, self._repairs, as_name=self._zone(frame) == "input" and self._is_action(frame))
        self._store(value)

    def _zone(self, frame: Frame) -> Zone:
        if len(self._frames) > 1 or self._as_input:
            return "input"
        kind = role(frame.key or "")
        return "answer" if kind == "answer" else "input" if kind in ("action", "input") else "thought"

    def _is_action(self, frame: Frame) -> bool:
        return len(self._frames) == 1 and not self._as_input and role(frame.key or "") == "action"

    def _may_lack_value(self, frame: Frame) -> bool:
        """`"final_answer": }` after a whole call: what comes after the input may be missing."""
        if len(self._frames) > 1 or strong_role(frame.key or "") != "answer" or not any(role(key) == "input" for key in self._root):
            return False
        self._repairs.setdefault("missing_value", self._pos)
        return True

    def _push(self, container: dict[str, Any] | list[Any]) -> None:
        if len(self._frames) >= MAX_DEPTH:
            raise Unreadable("too_deep", self._pos, f"more than {MAX_DEPTH} brackets are open at once; send a flatter object")
        self._frames.append(Frame(container))
        self._pos += 1

    def _store(self, value: object) -> None:
        frame = self._frames[-1]
        container, key = frame.container, frame.key
        frame.commas, frame.key = 0, None
        if isinstance(container, list):
            container.append(value)
        elif key is not None:
            if key in container:
                self._repeated(container, key, value, frame.key_at)
            container[key] = value

    def _repeated(self, container: dict[str, Any], key: str, value: object, offset: int) -> None:
        free = len(self._frames) == 1 and strong_role(key) == "thought"
        same = isinstance(value, str) and value == container[key]
        if not free and not same and json.dumps(container[key], sort_keys=True) != json.dumps(value, sort_keys=True):
            raise Unreadable("duplicate_key", offset, f'"{key[:40]}" is given twice with different values; give it once')
        self._repairs.setdefault("duplicate_key", offset)
