"""The loop's guards: calls that repeat, and answers that nothing stands behind."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import react_agent.agent_guards_texts as texts
from react_agent.registry import Tool
from react_agent.types import Observation, ToolCall

# Failures that the model's own input caused: worth one more try. Everything else (not found, busy, refused) is a fact.
INPUT_ERRORS = frozenset({
    "bad_arguments", "unknown_tool", "empty", "syntax", "unsupported", "name", "arguments", "type", "domain", "division_by_zero",
    "ambiguous", "too_long", "too_deep", "sql_error", "not_a_query", "multiple_statements", "invalid_argument", "invalid_path",
    "invalid_pattern",
})  # fmt: skip
# Failures that may be gone the next time: such a call is not answered from memory.
PASSING_ERRORS = frozenset({"tool_crash", "timeout", "busy", "io_error", "bad_response", "not_approved"})
ADMISSION = re.compile(
    r"\b(?:can ?not|can['’]t|could ?n(?:o|['’])t|do(?:es)?(?: not|n['’]t) (?:know|exist)|not sure|unable|unknown|unavailable"
    r"|fail(?:s|ed|ure)?|no (?:such|data|information|result|record|price|match)|error|invalid|refused|denied|timed out"
    r"|not (?:be |an? )?(?:found|confirm\w*|known|available|valid|able|possible|exist|recogni[sz]ed|allowed|permitted))\b"
    r"|无法|不能|没有|没能|未能|[未没](?:找|查)到|[找查]不到|查无|不存在|不可用|不知道|不清楚|不支持|不允许|暂无|并无|无此|无(?:结果|数据|记录)|失败|错误|出错"
    r"|超时|未知|拒绝|無法|沒有|[未沒](?:找|查)到|暫無|並無|無此|失敗|錯誤|逾時|拒絕",
    re.IGNORECASE,
)
MOST_NAMES = 50  # of an answer that are looked for
PERIODS = (1, 2, 3)  # calls in turn that are a repetition when they come for the third time: A-A-A, A-B-A-B-A-B, ...


def call_key(call: ToolCall) -> str:
    """The same for the same tool and arguments, whatever the key order; 3.0 is 3."""
    return call.name + json.dumps(_whole_numbers(call.arguments), sort_keys=True, ensure_ascii=False, default=str)


def _whole_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(slots=True)
class CallMemory:
    """What was called, by call_key, and what came of it. A volatile call counts as a repetition only while its result stays the same."""

    _answers: dict[str, Observation] = field(default_factory=dict)
    _recent: list[str] = field(default_factory=list)
    _volatile: dict[str, str] = field(default_factory=dict)

    def stuck(self, key: str) -> bool:
        """True when with this call the same one, or the same two or three in turn, would have come three times."""
        recent = [*self._recent, key + self._volatile.get(key, "")]
        return any(len(recent) >= 3 * period and recent[-3 * period :] == 3 * recent[-period:] for period in PERIODS)

    def earlier(self, key: str) -> Observation | None:
        """The observation of the same call, when it need not be run again."""
        return self._answers.get(key)

    def repeated(self, key: str) -> None:
        """The call was answered from memory."""
        self._note(key)

    def ran(self, key: str, tool: Tool | None, observation: Observation) -> None:
        """The call was run or refused (tool None: it never got to a tool)."""
        changes = tool is not None and not tool.read_only
        if changes:
            self._answers.clear()
        if tool is not None and tool.volatile:
            self._volatile[key] = observation.content
            key += observation.content
        elif not changes and observation.error not in PASSING_ERRORS:
            self._answers[key] = observation
        self._note(key)

    def _note(self, key: str) -> None:
        self._recent.append(key)
        del self._recent[: 1 - 3 * max(PERIODS)]


@dataclass(frozen=True, slots=True)
class Objection:
    """Why an answer is sent back: the name of the frame that says so, and the number or name in question."""

    slug: str
    what: str = ""


@dataclass(slots=True)
class Grounding:
    """What stands behind an answer. Each objection is made a limited number of times; then the answer is taken, or, where
    a tool is required, the run fails. can_calculate: there is a tool that calculates."""

    require_tool: bool = False
    check_numbers: bool = False
    retry_failed_input: bool = True
    can_calculate: bool = False
    last_error: str | None = None
    succeeded: bool = False
    failed: bool = False
    _made: dict[str, int] = field(default_factory=dict)
    _known: set[float] = field(default_factory=set)  # the numbers of the question and of the observations
    _read: list[str] = field(default_factory=list)  # the question and the observations
    _unused: dict[str, float] = field(default_factory=dict)  # the question's numbers that no call has had yet, as they are written

    def asked(self, question: str) -> None:
        self.learn(question)
        if self.check_numbers and self.can_calculate:
            self._unused = dict(texts.amounts(question))

    def observed(self, observation: Observation) -> None:
        self.last_error = observation.error
        self.succeeded = self.succeeded or observation.error is None
        self.failed = self.failed or observation.error is not None
        self.learn(observation.content)

    def succeeded_with(self, call: ToolCall, *, calculates: bool) -> None:
        """The call's numbers are used; a calculation is the model's own word on all of them."""
        if self._unused:
            used = {each for written in _numbers_in(call) for each in texts.readings(written)}
            left = {written: value for written, value in self._unused.items() if used.isdisjoint(map(texts.same, texts.forms(value)))}
            self._unused = {} if calculates else left

    def learn(self, text: str) -> None:
        """What stands in a text, which may be JSON, comes from somewhere."""
        if self.check_numbers:
            for reading in dict.fromkeys((text, texts.unescaped(text))):
                self._known.update(texts.shown(reading))
                self._read.append(reading)

    def objection_to(self, call: ToolCall) -> Objection | None:
        """What is wrong with a calculation: its first number that neither the question nor an observation has, as it is, as a percentage,
        or as what a percentage leaves or adds."""
        if not self.check_numbers or "invented_input" in self._made:
            return None
        known = {texts.same(each) for value in texts.COMMON_NUMBERS | self._known for each in texts.forms(value)}
        stray = next((written for written in _numbers_in(call) if not _is_among(known, *texts.readings(written))), None)
        return None if stray is None else self._make(Objection("invented_input", stray), 1)

    def ungrounded(self, answer: str) -> bool:
        """True when a tool is required and no tool stands behind the answer."""
        if not self.require_tool or self.succeeded:
            return False
        return not (self.failed and ADMISSION.search(answer))

    def objection(self, answer: str) -> Objection | None:
        """What is wrong with the answer, if it has not been said often enough already."""
        if self.ungrounded(answer):
            slug = "answer_after_failure" if self.last_error in INPUT_ERRORS else "answer_without_tool"
            return self._make(Objection(slug), 2)
        if self.retry_failed_input and self.last_error in INPUT_ERRORS and (made := self._make(Objection("answer_after_failure"), 1)):
            return made
        if self.check_numbers and (number := self.stray_number(answer)):
            return self._make(Objection("number_from_nowhere", number), 1)
        if not self.check_numbers or not self.succeeded or self.last_error is not None or ADMISSION.search(answer):
            return None
        if self._unused and (made := self._make(Objection("unused_number", next(iter(self._unused))), 1)):
            return made
        if name := self.stray_name(answer):
            return self._make(Objection("not_looked_up", name), 1)
        return None

    def _make(self, objection: Objection, most: int) -> Objection | None:
        made = self._made.get(objection.slug, 0)
        if made >= most:
            return None
        self._made[objection.slug] = made + 1
        return objection

    def stray_number(self, answer: str) -> str:
        """The first number of the answer that neither the question nor an observation has; else empty."""
        known = sorted(map(abs, self._known))
        for written, ranges in texts.claims(answer):
            if not any(bisect_left(known, low) < bisect_right(known, high) for low, high in ranges):
                return written
        return ""

    def stray_name(self, answer: str) -> str:
        """The first identifier of the answer that neither the question nor an observation has; else empty."""
        names = dict.fromkeys(islice(texts.identifiers(answer), MOST_NAMES))
        read = "\n".join(self._read).replace("\\", "") if names else ""  # an observation is JSON, with its escapes
        for name in names:
            if not texts.has_name(read, name.replace("\\", "")):
                return name
        return ""


def _numbers_in(call: ToolCall) -> Iterable[str]:
    return (written for text in map(str, call.arguments.values()) for written, _ in texts.numbers(text))


def _is_among(known: set[str], whole: str, *parts: str) -> bool:
    return whole in known or known.issuperset(parts)
