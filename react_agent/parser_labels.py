"""The labelled lines of a text, such as "Action: search", in any of the forms that models use: bold, as a list, YAML-like."""

import re
from dataclasses import dataclass
from typing import Literal, cast

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
_FENCE = re.compile(r"^[ \t]*+(?:```|~~~)\w*+[ \t]*+(?:\n|\Z)", re.MULTILINE)
_BEFORE_OBJECT = re.compile(r"\s*+(?:(?:```|~~~)\w*+\s*+)?(?=\{)")


@dataclass(slots=True, eq=False)
class Label:
    """One label and what belongs to it.

    start: the label's offset; begin: its text's. underscored: written as a key, as in YAML. reading, fault: of an input that is
    JSON. given: the input that follows an action at once.
    """

    kind: Kind
    start: int
    begin: int
    text: str = ""
    underscored: bool = False
    reading: Reading | None = None
    fault: Unreadable | None = None
    given: "Label | None" = None

    @property
    def line(self) -> str:
        """The first line; the next one when the label stands alone. Nothing if an object, a fence or a tag is there."""
        line = self.text.strip().partition("\n")[0].strip()
        return "" if line.startswith(("{", "$", "[", "<", "```", "~~~")) else line

    @property
    def block(self) -> str:
        """The text inside its fence, or up to the fence that ends the reply."""
        text = self.text.lstrip() if _FENCE.match(self.text.lstrip()) else self.text
        parts = _FENCE.split(text, maxsplit=2)
        return parts[1] if len(parts) > 1 and not parts[0].strip() else parts[0]

    @property
    def answer(self) -> str:
        """The text as an answer, which may hold fences of its own: only one without a partner is not part of it."""
        fences = list(_FENCE.finditer(self.text))
        return (self.text[: fences[-1].start()] if len(fences) % 2 else self.text).strip()


def begins_label(line: str) -> bool:
    """Could a line be a label that was cut before its colon?"""
    word = line.strip(" \t*_`#>-").casefold()
    return word != "" and any(label.startswith(word) for label in _COMMON)


def find_labels(text: str, begin: int, end: int, guide: Guide) -> list[Label]:
    """The labels of text[begin:end] in order, up to the first invented observation. Labels inside a JSON input do not count."""
    labels: list[Label] = []
    indent: str | None = None
    pos = last = begin
    while match := _LABEL.search(text, pos, end):
        pos = match.end()
        if indent is not None and match["indent"] != indent:
            continue
        kind = cast(Kind, match.lastgroup)
        if labels and labels[-1].kind == "answer" and kind == "input":
            continue  # a line of the answer
        if labels:
            labels[-1].text = text[last : match.start()]
        if kind == "speaker":
            if any(label.kind in ("action", "answer") for label in labels):
                return labels
            continue
        indent = match["indent"]
        labels.append(Label(kind, match.start(), pos, underscored="_" in match[0]))
        if kind == "input" and len(labels) > 1 and labels[-2].kind == "action":
            labels[-2].given = labels[-1]
        last = pos
        if kind == "input" and (before := _BEFORE_OBJECT.match(text, pos)):
            pos = _read_input(labels, text, before.end(), guide)
    if labels:
        labels[-1].text = text[last:end]
    return labels


def _read_input(labels: list[Label], text: str, start: int, guide: Guide) -> int:
    """Read the JSON of the last label, and say where to go on."""
    names = [label.line for label in labels if label.kind == "action"]
    try:
        reading = read_object(text, start, lambda _: guide(names[-1] if names else None), as_input=True)
    except Unreadable as fault:
        labels[-1].fault = fault
        return len(text)
    labels[-1].reading = reading
    return reading.end
