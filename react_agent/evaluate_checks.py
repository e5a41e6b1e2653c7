"""Is an answer right? The checks that a task can name, each a value that says what is wrong with an answer, or nothing."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from react_agent.errors import ConfigError, ToolError
from react_agent.tools.files_regex import RegexChild

MOST_NUMBERS = 3  # an answer with more numbers that are not in the question has not decided
LEAST_WORDS, LEAST_SIGNS = 4, 6  # of an answer that there is no such thing: words, or Chinese characters
REGEX_SECONDS = 3.0
EXACTLY = 1e-9

_NUMBER = re.compile(r"(-?\d[\d,]*\.?\d*(?:[eE]-?\d+)?)(?: ?(万亿|万|亿))?")
_MULTIPLES = {"": 1.0, "万": 1e4, "亿": 1e8, "万亿": 1e12}
# A number that a person would take for a fact: with a decimal point, with a currency, or of two digits.
_CLAIM = re.compile(r"\d+\.\d+|\$ ?\d+|\b\d{2,}\b|\d+ ?(?:元|块|美元|欧元|克朗)", re.ASCII)
_ADMISSION = re.compile(
    r"not (?:be )?(?:found|find|confirm|known|available|able|possible|determin|retriev|answer|exist|recogni|valid|provide)"
    r"|cannot|can't|could ?n[o']t|does ?n[o']t exist|no (?:price|data|information|result|record)"
    r"|unable|unknown|unavailable|invalid|error|failed|timed? ?out|n/a"
    r"|无法|不能|没有|没能|未能|未找到|未查到|找不到|查不到|查不出|不存在|并无|暂无|无此|不可用|无效|未知|不知道|不清楚|失败|错误|出错|超时",
    re.IGNORECASE,
)
_CHINESE = re.compile("[\u4e00-\u9fff]")
# Signs that mean the same as ASCII ones, where a judge must not be blind: full-width digits, real minus signs, curly apostrophes.
_ASCII = str.maketrans("０１２３４５６７８９．－−＄’", "0123456789.--$'")


class Check(Protocol):
    """What an answer is held against. expected: for a person. fault: what is wrong with an answer, "" when it is right."""

    @property
    def expected(self) -> str: ...

    def fault(self, question: str, answer: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Number:
    """The value is in the answer, with few other numbers that the question does not have."""

    value: float
    tolerance: float

    @property
    def expected(self) -> str:
        return f"{self.value:.15g}" + (f" ± {self.tolerance:g}" if self.tolerance else "")

    def fault(self, question: str, answer: str) -> str:
        asked = numbers(question)
        new = [x for x in numbers(answer) if self._hit(x) or not any(abs(x - other) < EXACTLY for other in asked)]
        if not new:
            return "it has no number that is not in the question"
        if len(new) > MOST_NUMBERS:
            return f"it has {len(new)} numbers that are not in the question; at most {MOST_NUMBERS} may be there"
        if any(map(self._hit, new)):
            return ""
        return f"it says {', '.join(f'{x:.15g}' for x in new)} in place of {self.expected}"

    def _hit(self, x: float) -> bool:
        return abs(x - self.value) <= self.tolerance + EXACTLY


@dataclass(frozen=True, slots=True)
class ContainsAll:
    """Each of the values is in the answer, whatever the case."""

    values: tuple[str, ...]

    @property
    def expected(self) -> str:
        return ", ".join(self.values)

    def fault(self, question: str, answer: str) -> str:
        missing = [value for value in self.values if value.lower() not in answer.lower()]
        return f"it does not contain {', '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Exact:
    """The answer is the value and nothing else; white space around it does not count."""

    value: str

    @property
    def expected(self) -> str:
        return self.value

    def fault(self, question: str, answer: str) -> str:
        return "" if answer.strip() == self.value.strip() else "it is not exactly the expected text"


@dataclass(frozen=True, slots=True)
class Matches:
    """A regular expression is found in the answer (as one line, whatever the case), within a few seconds."""

    pattern: str

    @property
    def expected(self) -> str:
        return f"a match of {self.pattern}"

    def fault(self, question: str, answer: str) -> str:
        try:
            with RegexChild(self.pattern, hits=1, seconds=REGEX_SECONDS) as child:
                child.feed(0, " ".join(answer.split()).encode("utf-8", "replace").decode())
                if next(child.hits(), None) is not None:
                    return ""
                return f"the pattern took longer than {REGEX_SECONDS:g} seconds" if child.timed_out else "it does not match the pattern"
        except ToolError as error:
            return f"the pattern could not be tried: {error}"


@dataclass(frozen=True, slots=True)
class NotFound:
    """The answer says, in a sentence, that there is no such thing, and makes no number up."""

    expected: str = "that it cannot be confirmed"

    def fault(self, question: str, answer: str) -> str:
        answer, question = answer.translate(_ASCII), question.translate(_ASCII)
        invented = [claim for claim in _CLAIM.findall(answer) if claim not in question]
        if invented:
            return f"it makes up {', '.join(invented)}"
        if not _ADMISSION.search(answer):
            return "it does not say that this is not known"
        whole = len(answer.split()) >= LEAST_WORDS or len(_CHINESE.findall(answer)) >= LEAST_SIGNS
        return "" if whole else "it is no whole sentence"


@dataclass(frozen=True, slots=True)
class Custom:
    """A function of the task's author: called with the question and the answer, it returns whether the answer is right, or, as a text,
    what is wrong with it ("" for nothing)."""

    name: str
    function: Callable[[str, str], bool | str]

    @property
    def expected(self) -> str:
        return f"what {self.name}() accepts"

    def fault(self, question: str, answer: str) -> str:
        try:
            verdict = self.function(question, answer)
        except Exception as error:  # the author's code: what it raises is told with the task, and the other tasks go on
            return f"{self.name}() failed: {type(error).__name__}: {error}"
        if isinstance(verdict, str):
            return verdict
        return "" if verdict else f"{self.name}() says no"


def numbers(text: str) -> list[float]:
    """Every number of a text: thousands separators, full-width digits and 万 are understood."""
    found = []
    for digits, multiple in _NUMBER.findall(text.translate(_ASCII)):
        value = float(digits.rstrip(",.").replace(",", "")) * _MULTIPLES[multiple]
        found.append(float(f"{value:.15g}") if multiple else value)
    return found


Functions = Mapping[str, Callable[[str, str], bool | str]]


def check_from(body: Any, functions: Functions, where: str) -> Check:
    """A check from its JSON; ConfigError says what is missing, with where in front. functions: what python checks may name."""
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, str) or kind not in _MAKERS:
        raise ConfigError(f"{where}: the check's type must be one of {', '.join(_MAKERS)}, not {kind!r}")
    try:
        return _MAKERS[kind](body, functions)
    except (KeyError, ValueError, OverflowError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ConfigError(f"{where}: the check of type {kind} is not right: {missing}") from None


def _number(body: Mapping[str, Any], _: Functions) -> Check:
    value, tolerance = body["value"], body.get("tol", 0)
    for each in (value, tolerance):
        if isinstance(each, bool) or not isinstance(each, int | float) or not math.isfinite(each):
            raise ValueError(f"value and tol must be numbers, not {each!r}")
    if tolerance < 0:
        raise ValueError("tol must not be below 0")
    return Number(float(value), float(tolerance))


def _contains_all(body: Mapping[str, Any], _: Functions) -> Check:
    values = body["values"]
    if not isinstance(values, list) or not values or not all(isinstance(value, str) and value for value in values):
        raise ValueError("values must be a list of texts")
    return ContainsAll(tuple(values))


def _exact(body: Mapping[str, Any], _: Functions) -> Check:
    return Exact(_text(body, "value"))


def _regex(body: Mapping[str, Any], _: Functions) -> Check:
    pattern = _text(body, "pattern")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return Matches(pattern)


def _python(body: Mapping[str, Any], functions: Functions) -> Check:
    name = _text(body, "function")
    if name not in functions:
        known = f"there are: {', '.join(functions)}" if functions else "no functions were given"
        raise ValueError(f"there is no function {name!r}; {known}")
    return Custom(name, functions[name])


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body[name]
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a text, not {value!r}")
    return value


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], Functions], Check]] = {
    "number": _number, "contains_all": _contains_all, "exact": _exact, "regex": _regex, "python": _python,
    "not_found": lambda body, functions: NotFound(),
}  # fmt: skip
CHECK_TYPES: Sequence[str] = tuple(_MAKERS)
