"""The labelled lines of a text, such as "Action: search", in any of the forms that models use: bold, as a list, YAML-like."""

import itertools
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from react_agent.lenient_json import Guide, Reading, Unreadable, read_object

Kind = Literal["thought", "action", "input", "answer", "speaker"]

_NAMES: dict[Kind, str] = {
    "input": "(?:action|tool)[ _]?inputs?|(?:action[ _])?arguments?|inputs?|args|(?:行动|动作|操作|工具)?输入|参数",
    "action": "action|tool(?:[ _]name)?|行动|动作|操作|(?:调用|使用)?工具",
    "thought": "thoughts?|reasoning|思考|想法",
    "answer": "final[ _]?answer|最终答案|最终回答",
    "speaker": "observations?|(?:tool|function)[ _](?:result|output|response)s?|question|users?|humans?|assistant|system"
    "|观察结果|观察|观测|工具结果|工具返回|用户|助手|系统",
}
_KINDS = "|".join(f"(?P<{kind}>{names})" for kind, names in _NAMES.items())
_LABEL = re.compile(
    rf"^(?P<indent>[ \t]*+)(?:[-+>#]++[ \t]*+)?[*_`]*+(?:{_KINDS})[ \t]*+\d{{0,2}}[*_`]*+[ \t]*+[:：][*_`]*+[ \t]*+",
    re.IGNORECASE | re.MULTILINE,
)
_COMMON = ("observation", "thought", "action input", "action_input", "final answer", "final_answer", "question",
           "观察", "思考", "行动", "最终答案")  # fmt: skip
COLON = re.compile("[:：]")
_MOST = 2000
_NO_LINE = ("{", "$", "[", "<", "```", "~~~")
_ANY_FENCE = re.compile("```|~~~")  # also behind a label, on its line
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)\w*+[ \t]*+(?:\n|\Z)", re.MULTILINE)
_BEFORE_OBJECT = re.compile(r"\s*+(?:(?:```|~~~)\w*+\s*+)?(?=\{)")


@dataclass(slots=True, eq=False)
class Label:
    """One label and what belongs to it.

    start: the label's offset; begin: its text's. line: the text's first one that is not blank; nothing if an object, a fence or a tag
    is there. underscored: written as a key, as in YAML. reading, fault: of an input that is JSON. given: the input that follows an
    action at once. left_open: its text ends inside a fence that is never closed.
    """

    kind: Kind
    start: int
    begin: int
    text: str = ""
    line: str = ""
    underscored: bool = False
    reading: Reading | None = None
    fault: Unreadable | None = None
    given: "Label | None" = None
    left_open: bool = False

    @property
    def block(self) -> str:
        """The text inside its fence, or up to the fence that ends the reply."""
        text = self.text.lstrip() if _FENCE.match(self.text.lstrip()) else self.text
        parts = _FENCE.split(text, maxsplit=2)
        return parts[1] if len(parts) > 1 and not parts[0].strip() else parts[0]

    @property
    def around_object(self) -> str:
        """The text without the object in it."""
        if not self.reading:
            return self.text.lstrip()
        return self.text[: self.reading.start - self.begin].lstrip() + self.text[self.reading.end - self.begin :]

    @property
    def answer(self) -> str:
        """The text as an answer, which may hold fences of its own: only one without a partner is not part of it."""
        fences = list(_FENCE.finditer(self.text)) if _ANY_FENCE.search(self.text) else []
        return (self.text[: fences[-1].start()] if len(fences) % 2 else self.text).strip()

    @property
    def is_answer(self) -> bool:
        """Does it give an answer, not a word for none?"""
        return self.kind == "answer" and self.answer.strip(" \t\"'") not in ("", "null", "None", "~")

    def agrees_with(self, arguments: Mapping[str, Any] | None) -> bool:
        """Does the plain text that an action was given stand among the arguments? Yes also when it was given none, or JSON."""
        text = self.given.block.strip().strip("\"'`") if self.given and not self.given.reading else ""
        return not text or (arguments is not None and text in arguments.values())


def begins_label(line: str) -> bool:
    """Could a line be a label that was cut before its colon?"""
    word = line.strip(" \t*_`#>-").casefold()
    return line.strip() != "" and any(label.startswith(word) for label in _COMMON)


def find_labels(text: str, begin: int, end: int, guide: Guide) -> tuple[list[Label], int]:
    """The labels of text[begin:end] in order, up to the first invented observation, and its offset or -1.

    Labels inside a JSON input do not count. Raises Unreadable for too many.
    """
    finder, spoke = _Finder(text, begin, guide), -1
    while spoke < 0 and (match := _LABEL.search(text, finder.pos, end)):
        spoke = -1 if finder.take(match) else match.start()
    if spoke < 0:
        finder.finish(end)
    if finder.labels and _ANY_FENCE.search(text, begin, end):
        _note_open_fence(text[begin : finder.labels[0].start], finder.labels)
    return finder.labels, spoke


def has_labels(text: str, begin: int, end: int, guide: Guide, reasoning: Sequence[tuple[int, int]]) -> bool:
    """Do labelled lines in text[begin:end] name a tool or give an answer, outside of reasoning? reasoning: in order of the ends."""
    if not COLON.search(text, begin, end):
        return False
    parts = sorted(itertools.takewhile(lambda part: part[1] > begin, reversed(reasoning)))
    starts = [start for start, _ in parts]
    for label in find_labels(text, begin, end, guide)[0]:
        before = bisect_right(starts, label.start) - 1
        if (label.kind == "action" or label.is_answer) and (before < 0 or label.start >= parts[before][1]):
            return True
    return False


def _note_open_fence(before: str, labels: Sequence[Label]) -> None:
    """Mark the labels whose text ends in a fence that is never closed. A fence without a partner may also be a closing one, at the end."""
    opened, more = -1, False
    for number, part in enumerate([before, *(label.around_object for label in labels)]):
        fences = list(_FENCE.finditer(part))
        for _ in fences:
            opened = number if opened < 0 else -1
        if fences:
            part, more = part[fences[-1].end() :], fences[-1][0].strip("`~ \t\n") != ""
        more = more or part.strip() != ""
    if opened >= 0 and more:
        for label in labels[max(0, opened - 1) :]:
            label.left_open = True


class _Finder:
    """Collects labels. pos: where to search on; take says False when another speaker's turn begins."""

    def __init__(self, text: str, begin: int, guide: Guide) -> None:
        self.labels: list[Label] = []
        self.pos = begin
        self._text = text
        self._guide = guide
        self._indent = 0  # of the last label
        self._decided = False  # there was an action or an answer
        self._action: Label | None = None

    def take(self, match: re.Match[str]) -> bool:
        self.pos = match.end()
        kind = cast(Kind, match.lastgroup)
        last = self.labels[-1] if self.labels else None
        if (last and len(match["indent"]) > self._indent) or (kind == "input" and last and last.kind == "answer"):
            return True  # a line of what came before
        self.finish(match.start())
        if kind == "speaker":
            return not self._decided
        if len(self.labels) == _MOST:
            raise Unreadable("bad_syntax", match.start(), "there are too many labelled lines; send one JSON object and nothing else")
        self._indent = len(match["indent"])
        self._add(Label(kind, match.start(), match.end(), underscored="_" in match[0]), last)
        return True

    def finish(self, end: int) -> None:
        """The last label's text ends here."""
        if self.labels and not self.labels[-1].text:
            last = self.labels[-1]
            last.text = self._text[last.begin : end]
            line = last.text.strip().partition("\n")[0].rstrip()
            last.line = "" if line.startswith(_NO_LINE) else line

    def _add(self, label: Label, last: Label | None) -> None:
        self.labels.append(label)
        self._decided = self._decided or label.kind in ("action", "answer")
        if label.kind == "action":
            self._action = label
        elif label.kind == "input":
            if last and last.kind == "action":
                last.given = label
            if before := _BEFORE_OBJECT.match(self._text, self.pos):
                self._read_input(label, before.end())

    def _read_input(self, label: Label, start: int) -> None:
        """Read an input that is JSON, and go on behind it."""
        name = self._action.line if self._action else None
        try:
            label.reading = read_object(self._text, start, lambda _: self._guide(name), as_input=True)
            self.pos = label.reading.end
        except Unreadable as fault:
            label.fault = fault
            fault.forget_frames()
            self.pos = len(self._text)
