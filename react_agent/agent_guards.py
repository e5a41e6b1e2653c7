"""The loop's guards: calls that repeat, and answers that nothing stands behind."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from react_agent.prompt_linking import UNSPACED
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
_NUMBER = re.compile(rf"(?:(?<![\w.])|(?<=[{UNSPACED}]))[-+]?(?:\d{{1,3}}(?:,\d{{3}})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?")
# Numbers that need no source: small ones, and those of time and of percentages.
COMMON_NUMBERS = frozenset({0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0, 3600.0})
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
# What stands before a number that is not calculated with: it is a bound, one of many, a day, or a part of a name as in Python 3.11.
_BEFORE = re.compile(
    r"(?:(?:\b(?:above|below|over|under|than|least|most|exceeds?)|[超低高大小少多][于於过過]|至少|至多)\W*"
    r"|\b(?:top|first|last|version|release|chapter|section|page|line|row|step|room|port|code|error|status|invoice|ticket|issue|id|no\.?)\s*#?"
    rf"|[#№第前]\s*|\b{_MONTH}\.?\s|(?-i:[\w,;)] [A-Z][a-z]+\s))\Z",
    re.IGNORECASE,
)
_LONGEST_BEFORE = 40  # characters before a number that are looked at
# And what stands behind one: it is the 15th, an hour, a day or a bound.
_BEHIND = re.compile(
    r"(?:st|nd|rd|th|\s?[ap]\.?m\.?|\s?o['’]clock|\s(?:or|and)\s(?:more|less|fewer|above|below|over|under|up|later|earlier)"
    rf"|\.?\s(?:of\s)?{_MONTH})(?!\w)|\s*(?:[年月号號点點时時]|日(?!元)|以[上下内內]|이[상하]|초과|미만|[년월일]|시(?!간))",
    re.IGNORECASE,
)
# Where numbers are a part of a name: between quotes, 3.11.5, 2031-05-17, HTTP/11, 14:30, A-17, 10-20, 007, +49 170 1234567.
_NAMED = re.compile(
    r"""'[^'\n]*'|"[^"\n]*"|`[^`\n]*`|“[^“”\n]*”|‘[^‘’\n]*’|「[^「」\n]*」"""
    r"|(?<!\w)\w*+(?:[./:-](?=\w*?\d)\w++){2,}+|(?<!\w)\w++/\d++|(?<!\d)\d\d?:\d\d(?!\d)|(?<!\w)[^\W\d]\w*+-\d\w*+"
    r"|(?<![\d.,])\d++[-–]\d++|(?<![\w.,])0\d++|\+\d++(?:[ -]?\(?\d++\)?){2,}+"
)
_IN_WORD = re.compile(r"(?<=[^\W\d])\d+(?:\.\d+)?")  # v1.2, 2031-05-17T14:30
_ITEM = re.compile(r"^[ \t]*\d{1,3}[.)](?=\s)", re.MULTILINE)
# What a number may be told in: a share as 15 %, 1203450 as 1.2 million.
_SCALE = re.compile(r"\s?(%|％|per ?cent\b|thousand\b|million\b|billion\b|万|萬|亿|億)", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8}  # all others: 0.01
_YEARS = frozenset(map(float, range(1900, 2101)))
# Names that are no words: between backticks, an option, with an underscore or with a capital inside. ASCII, for 变量QUILL_TOKEN的值.
_IDENTIFIER = re.compile(r"`([^`\n]{2,80})`|(?<![\w-])(--?[a-zA-Z][\w-]+)|\b([A-Za-z]\w*_\w+)|\b([A-Z][a-z]+[A-Z]\w*)", re.ASCII)
MOST_NAMES, LONGEST_NAME = 50, 80  # names of an answer that are looked for, and characters of one
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|(.))", re.DOTALL)  # in JSON
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
            self._unused = dict(amounts(question))

    def observed(self, observation: Observation) -> None:
        self.last_error = observation.error
        self.succeeded = self.succeeded or observation.error is None
        self.failed = self.failed or observation.error is not None
        self.learn(observation.content)

    def succeeded_with(self, call: ToolCall, *, calculates: bool) -> None:
        """The call's numbers are used; a calculation is the model's own word on all of them."""
        if self._unused:
            used = {each for written in _numbers_in(call) for each in _readings(written)}
            left = {written: value for written, value in self._unused.items() if used.isdisjoint(map(_same, _forms(value)))}
            self._unused = {} if calculates else left

    def learn(self, text: str) -> None:
        """What stands in a text comes from somewhere. It may be JSON, where the n of a line break stands right before what follows."""
        if self.check_numbers:
            for reading in dict.fromkeys((text, _ESCAPE.sub(_unescaped, text))):
                written = [number for number, _, _ in numbers(reading)] + _IN_WORD.findall(reading)
                self._known.update(_value(each) for number in written for each in (number, *number.split(",")))
                self._read.append(reading)

    def objection_to(self, call: ToolCall) -> Objection | None:
        """What is wrong with a calculation: its first number that neither the question nor an observation has, as it is, as a percentage,
        or as what a percentage leaves or adds."""
        if not self.check_numbers or "invented_input" in self._made:
            return None
        known = {_same(each) for value in COMMON_NUMBERS | self._known for each in _forms(value)}
        stray = next((written for written in _numbers_in(call) if not _is_among(known, *_readings(written))), None)
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
        """The first number of the answer that neither the question nor an observation has, whatever its sign, rounding allowed; else
        empty. The numbers before the items of a list are none."""
        known = sorted(map(abs, self._known))
        answer = _ITEM.sub("", answer) if len(_ITEM.findall(answer)) > 1 else answer
        for match in _NUMBER.finditer(answer):
            value, rounding = abs(_value(match[0])), 0.5000001 * 10.0 ** -_decimals(match[0])
            slack = rounding * (rounding < 0.5 or value > 20) + 1e-9
            scale = _SCALE.match(answer, match.end())
            if not _is_near(known, value, slack) and not (scale and _is_near(known, value, min(rounding, value / 20), _scale(scale))):
                return match[0]
        return ""

    def stray_name(self, answer: str) -> str:
        """The first identifier of the answer that neither the question nor an observation has; else empty."""
        names = dict.fromkeys(islice(identifiers(answer), MOST_NAMES))
        read = "\n".join(self._read).replace("\\", "") if names else ""  # an observation is JSON, with its escapes
        for name in names:
            if not re.search(rf"(?<!\w){re.escape(name.replace(chr(92), ''))}(?!\w)", read, re.IGNORECASE | re.ASCII):
                return name
        return ""


def amounts(question: str) -> Iterable[tuple[str, float]]:
    """The numbers of a question that an answer to it must have been calculated with: no small ones, no years, dates or times, none in a
    name or a version, none that counts off or is only a bound, as in "above 50"."""
    plain = _NAMED.sub(lambda name: " " * len(name[0]), question)
    for match in _NUMBER.finditer(plain):
        value, start = _value(match[0]), match.start()
        if abs(value) in COMMON_NUMBERS or value in _YEARS or _BEHIND.match(plain, match.end()):
            continue
        if not _BEFORE.search(plain, max(0, start - _LONGEST_BEFORE), start):
            yield match[0], value


def _forms(value: float) -> tuple[float, ...]:
    """A number as it is, as a percentage, and as what a percentage leaves or adds."""
    return value, value / 100, 1 - value / 100, 1 + value / 100


def _numbers_in(call: ToolCall) -> Iterable[str]:
    return (written for text in map(str, call.arguments.values()) for written, _, _ in numbers(text))


def _value(written: str) -> float:
    return float(written.replace(",", ""))


def _readings(written: str) -> list[str]:
    """The number, and the numbers of what may be several: max(120,450)."""
    return [_same(_value(each)) for each in (written, *written.split(","))]


def _is_among(known: set[str], whole: str, *parts: str) -> bool:
    return whole in known or known.issuperset(parts)


def _unescaped(escape: re.Match[str]) -> str:
    """What a JSON escape stands for; a blank for what no one sees."""
    return " " if (escape[1] or "n") in "bfnrt" else escape[1]


def identifiers(text: str) -> Iterable[str]:
    """The names of a text that are no words: what stands between backticks, piece by piece, --option, SOME_NAME, SomeName."""
    for match in _IDENTIFIER.finditer(text):
        quoted = match[1]
        for piece in quoted.split() if quoted else [match[0]]:
            if 1 < len(name := piece.partition("(")[0].strip(".,;:!?'\"()[]{}<>")) <= LONGEST_NAME:
                yield name


def _same(value: float) -> str:
    """The same for numbers that differ by their sign or by what floating point leaves of them."""
    return f"{abs(value):.9g}"


def numbers(text: str) -> Iterable[tuple[str, float, int]]:
    """Each number of a text: as written, its value, its decimals."""
    for match in _NUMBER.finditer(text):
        yield match[0], _value(match[0]), _decimals(match[0])


def _decimals(written: str) -> int:
    return len(written.lower().partition("e")[0].partition(".")[2])


def _scale(found: re.Match[str]) -> float:
    return _SCALES.get(found[1].lower(), 0.01)


def _is_near(known: Sequence[float], value: float, slack: float, scale: float = 1.0) -> bool:
    """Whether one of the known numbers, in order, is no further away than that."""
    low, high = (value - slack) * scale, (value + slack) * scale
    nearest = bisect_left(known, low)
    return nearest < len(known) and known[nearest] <= high
