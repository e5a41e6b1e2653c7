"""Replies without an object: "Action:" and "Action Input:" lines, YAML-like ones too, and "Final Answer:".

Such text has no closing mark, so that a cut one looks whole. An input that is JSON is closed by its own brace and always counts.
Plain text counts only if the model stopped by itself, and as an input only for a tool that changes nothing.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.lenient_json import Guide, Reading, Unreadable, strict_text
from react_agent.lenient_json_decision import is_none, is_template_answer, is_template_call
from react_agent.parser_input import arguments, refuse_misplaced
from react_agent.parser_labels import Label, begins_label, find_labels
from react_agent.parser_names import find_tool, is_finish, unknown_tool
from react_agent.parser_place import Place
from react_agent.parser_refusals import conflict, continued, echoed
from react_agent.parser_shape import Shape, answer_text, unlabelled
from react_agent.parser_yaml import literal, mapping, scalar
from react_agent.registry import Tool, ToolRegistry

_GOES_ON = re.compile(r"[^\n{｛]*[\"“”]")  # behind an input's last brace, on its line
_ANOTHER = re.compile(r"(?:[^\n]*?|.*?\n[ \t,]*+)([{｛])", re.DOTALL)  # an object there, or at the beginning of a later line
_SENTENCE_BEFORE = re.compile(r"(?:\A|\n)[ \t]*\w[^\n]*[ \t][^\n]*\w[ \t]*\n[ \t]*\Z")  # a line of words that does not end its sentence
_SENTENCE_AFTER = re.compile(r"[^\w\n]*\n[ \t]*[a-zà-öø-ÿа-я]")  # a line that goes on with one
_RULE_AT_END = re.compile(r"\n---\s*+\Z")
_NEAR = 200
_PAIRS = {'"': '"', "'": "'", "`": "`", "“": "”"}


def read_text(
    text: str, begin: int, end: int, tools: ToolRegistry, guide: Guide, *,
    stopped: bool, reasoning: Sequence[tuple[int, int]], repairs: dict[str, int],
) -> Shape | None:  # fmt: skip
    """What the labels in text[begin:end] decide; None when there are none that could. stopped: the model ended by itself.
    reasoning: the parts of the text that were, which are blank.

    Raises Unreadable.
    """
    rule = _RULE_AT_END.search(text, begin, end) if "\n---" in text else None
    labels, invented = find_labels(text, begin, rule.start() if rule else end, guide)
    found = _Reply(text, labels, tools, stopped, sorted(start for start, _ in reasoning), repairs).shape()
    if found and invented >= 0:
        repairs.setdefault("invented_observation", invented)
    return found


@dataclass(slots=True)
class _Reply:
    text: str
    labels: list[Label]
    tools: ToolRegistry
    stopped: bool
    reasoning: Sequence[int]  # where it begins
    repairs: dict[str, int]

    def shape(self) -> Shape | None:
        answers, actions = self._deciding()
        called = [label for label in actions if not is_none(label.line)] if actions else []
        if not called:
            return self._answered(answers) if answers else None
        action = next((label for label in called if label.given), called[0])
        if answers and answers[0].start < action.start:
            raise Unreadable("conflict", action.start, "a final answer and an action stand in one reply; send one of them")
        for other in actions:
            if other.line != action.line:
                raise Unreadable("conflict", other.start, "two different actions stand in one reply; send one of them")
        inputs = [label for label in self.labels if label.kind == "input" and label.start > action.start]
        for other in inputs[1:]:
            if other.block.strip() != inputs[0].block.strip():
                raise Unreadable("conflict", other.start, "two different inputs stand in one reply; send one of them")
        tool = find_tool(action.line, self.tools)
        if not tool:
            return self._finished(action, answers)
        if action.given and action.given.reading and self._is_quoted(action.given, action.given.reading.end):
            raise Unreadable("not_a_decision", action.start, "the call stands in the middle of a sentence; send it alone")
        found = self._arguments(tool, action.given, action)
        if any(answer.is_answer for answer in answers):
            self.repairs.setdefault("premature_answer", answers[0].start)
        thought = self._thought()
        if is_template_call(thought, found):
            raise echoed(action.start)
        self.repairs.setdefault("label_text", action.start)
        return Shape(thought, tool, found)

    def _is_quoted(self, given: Label, end: int) -> bool:
        """Does a sentence go on behind an input's end, which began in front of the labels?"""
        before = self.text[max(0, self.labels[0].start - _NEAR) : self.labels[0].start]
        return bool(_SENTENCE_BEFORE.search(before) and _SENTENCE_AFTER.match(self.text, end, given.begin + len(given.text)))

    def _deciding(self) -> tuple[list[Label], list[Label]]:
        """The labels of answers, and those of actions that have a name."""
        answers, actions = [], []
        for label in self.labels:
            if label.kind == "answer":
                answers.append(label)
            elif label.kind == "action" and label.line:
                actions.append(label)
        return answers, actions

    def _thought(self) -> str:
        for label in self.labels:
            if label.kind == "thought":
                return label.block.strip()
        return ""

    # Answers.

    def _answered(self, answers: list[Label]) -> Shape:
        if not self.stopped:
            raise Unreadable("truncated", answers[0].start, "the reply may have been cut; send the answer as JSON", cut=True)
        texts = [self._answer(answer) for answer in answers]
        if len(texts) > 1 and any(text != texts[0] for text in texts):
            raise Unreadable("conflict", answers[1].start, "two different final answers stand in one reply; send one of them")
        if texts[0] is not None and is_template_answer(texts[0]):
            raise echoed(answers[0].begin)
        self.repairs.setdefault("label_text", answers[0].start)
        return Shape(self._thought(), answer=texts[0])

    def _finished(self, action: Label, answers: list[Label]) -> Shape:
        """An action that is no tool: "Finish" has the answer as its input."""
        given = action.given
        if not is_finish(action.line) or not (given or answers):
            raise unknown_tool(action.line, self.tools, self._place(action))
        return self._answered([given, *answers] if given else answers)

    def _answer(self, label: Label) -> str | None:
        if label.reading and isinstance(answer := unlabelled(label.reading.value), str):
            self._refuse_rest(label, label.reading)
            return answer
        self._refuse_cut(label)
        text = label.answer
        if label.underscored and (text.startswith(("|", ">")) or "\n" not in text):
            return answer_text(literal(text, label.begin) if "\n" in text else scalar(text, label.begin))
        return answer_text(text)

    # Inputs.

    def _arguments(self, tool: Tool, given: Label | None, action: Label) -> dict[str, Any]:
        place = self._place(given or action)
        if given and given.fault:
            raise given.fault
        if given and given.reading:
            self._refuse_rest(given, given.reading)
            for name, at in given.reading.repairs.items():
                self.repairs.setdefault(name, at)
            inputs = arguments(tool, given.reading.value, True, place, self.repairs)
            refuse_misplaced(tool, inputs, {}, ("action", "input"), place, in_doubt=False)
            return inputs
        if not self.stopped:
            raise Unreadable("truncated", place.start, "the reply may have been cut; send action_input as JSON", cut=True)
        if not tool.read_only:
            raise Unreadable("bad_input", place.start, f"{tool.name} changes something, so its input must be a JSON object")
        block = given.block if given else ""
        if given and not block.lstrip().startswith(("{", "[{")):
            self._refuse_cut(given)
        if not block.strip() or (not tool.parameter_names and is_none(block)):
            return arguments(tool, None, given is not None, place, self.repairs)
        if given and given.underscored and not block.partition("\n")[0].strip():
            self.repairs.setdefault("yaml", place.start)
            return mapping(block, tool, place.start)
        return self._plain(tool, block.strip(), place)

    def _refuse_rest(self, label: Label, reading: Reading) -> None:
        """Unreadable if an input that is JSON goes on behind its last brace, or another one follows."""
        text, at, end = self.text, reading.end, label.begin + len(label.text)
        if _GOES_ON.match(text, at, end):
            raise continued(at)
        other = _ANOTHER.match(text, at, end)
        if other and not text.startswith(text[reading.start : at], other.start(1)):
            raise conflict(other.start(1))

    def _refuse_cut(self, label: Label) -> None:
        """Unreadable if a plain text may be a part only: a fence in it is not closed, or it has a tag in the middle of a line."""
        begin, end = label.begin, label.begin + len(label.text)
        if label.left_open:
            raise Unreadable("truncated", end, "the reply ends inside a code fence; send the text as JSON", cut=True)
        for start in self.reasoning[bisect_left(self.reasoning, begin) : bisect_right(self.reasoning, end)]:
            if self.text[max(begin, self.text.rfind("\n", begin, start)) : start].strip():
                raise Unreadable("bad_syntax", start, "a tag of reasoning stands in the middle of a text; send the text as JSON")

    def _place(self, label: Label) -> Place:
        """Where a label's text stands."""
        return Place(self.text, label.begin, label.begin + len(label.text))

    def _plain(self, tool: Tool, text: str, place: Place) -> dict[str, Any]:
        """Plain text as the argument of a tool with one parameter, if it is plain where it ends and what it means."""
        cut = text[0] in '"“' and _PAIRS[text[0]] not in text[1:]
        if text[0] == '"' and isinstance(decoded := _decoded(text), str):
            text = decoded
        quotes = text[:1], _PAIRS.get(text[:1], "")
        if len(text) > 1 and text.endswith(quotes[1]) and not any(quote in text[1:-1] for quote in quotes):
            text = text[1:-1]
        cut = cut or ("\n" in text and begins_label(text.rpartition("\n")[2]))
        if cut or "\n\n" in text or (text.startswith(("[", "<", "```")) and not text.startswith("[{")):
            hint = "it is not plain which argument this is or where it ends; send it as a JSON object"
            raise Unreadable("bad_input", place.start, hint)
        return arguments(tool, text, True, place, self.repairs)


def _decoded(text: str) -> object:
    """The value of a text that is JSON, else None."""
    try:
        return strict_text(text)
    except ValueError:
        return None
