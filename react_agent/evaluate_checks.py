"""Is an answer right? The checks that a task can name."""

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.agent_guards import ADMISSION
from react_agent.errors import ConfigError

_NUMBER = re.compile(r"-?\d[\d,]*\.?\d*(?:[eE][-+]?\d+)?")
_CLAIM = re.compile(r"\d+\.\d+|\$ ?\d+|\b\d{2,}\b")
MOST_NUMBERS = 3  # an answer with more numbers that are not in the question has not decided


@dataclass(frozen=True, slots=True)
class Task:
    """A question and how its answer is judged.

    check: {"type": "number", "value", "tol"} | {"type": "contains_all", "values"} | {"type": "exact", "value"} |
    {"type": "regex", "pattern"} | {"type": "not_found"} | {"type": "python", "function": "module:name"}, which is called with
    (task, answer) and returns a bool. tools: a successful call of one of them is needed where needs_tool is set; where
    failed_call_counts is set, a failed one will do (for what does not exist).
    """

    id: str
    question: str
    check: Mapping[str, Any]
    kind: str = ""
    answer: Any = None
    needs_tool: bool = False
    tools: tuple[str, ...] = ()
    failed_call_counts: bool = False


def task_from(body: Mapping[str, Any], where: str) -> Task:
    """A task from a line of JSON; ConfigError names the line and what is missing."""
    missing = [name for name in ("id", "question", "check") if not body.get(name)]
    if missing:
        raise ConfigError(f"{where}: a task needs {', '.join(missing)}")
    kind = body["check"].get("type") if isinstance(body["check"], dict) else None
    if kind not in CHECKS:
        raise ConfigError(f"{where}: the check's type must be one of {', '.join(CHECKS)}, not {kind!r}")
    return Task(
        str(body["id"]), str(body["question"]), body["check"], str(body.get("kind", "")), body.get("answer"), bool(body.get("needs_tool")),
        tuple(body.get("tools", ())), bool(body.get("failed_call_counts")),
    )  # fmt: skip


def right(task: Task, answer: str | None, calls: Sequence[Mapping[str, Any]]) -> bool:
    """The answer checks, and a relevant tool call stands behind it. calls: {"tool", "ok"} of each."""
    if not answer or not answer.strip() or not CHECKS[task.check["type"]](task, answer):
        return False
    behind = any(call["tool"] in task.tools and (call["ok"] or task.failed_call_counts) for call in calls)
    return behind or not task.needs_tool


def numbers(text: str) -> list[float]:
    """Every number of a text, thousands separators allowed."""
    found = []
    for match in _NUMBER.findall(text):
        digits = match.rstrip(",.").replace(",", "")
        try:
            found.append(float(digits))
        except ValueError:
            continue
    return found


def _is_number(task: Task, answer: str) -> bool:
    """The value is in the answer, with few other numbers that the question does not have."""
    value, tolerance = float(task.check["value"]), float(task.check.get("tol", 0)) + 1e-9
    asked = numbers(task.question)
    new = [x for x in numbers(answer) if abs(x - value) <= tolerance or not any(abs(x - y) < 1e-9 for y in asked)]
    return 0 < len(new) <= MOST_NUMBERS and any(abs(x - value) <= tolerance for x in new)


def _contains_all(task: Task, answer: str) -> bool:
    return all(str(value).lower() in answer.lower() for value in task.check["values"])


def _is_exact(task: Task, answer: str) -> bool:
    return answer.strip() == str(task.check["value"]).strip()


def _matches(task: Task, answer: str) -> bool:
    return re.search(task.check["pattern"], answer, re.IGNORECASE) is not None


def _not_found(task: Task, answer: str) -> bool:
    """It says that there is no such thing, in a sentence, and makes no number up."""
    invented = [claim for claim in _CLAIM.findall(answer) if claim not in task.question]
    words = len(re.findall(r"\w+|[\u4e00-\u9fff]", answer))
    return words >= 4 and ADMISSION.search(answer) is not None and not invented


def _python(task: Task, answer: str) -> bool:
    module, _, name = str(task.check["function"]).partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"task {task.id}: the check {task.check['function']!r} cannot be loaded: {error}") from None
    return bool(function(task, answer))


CHECKS: Mapping[str, Callable[[Task, str], bool]] = {
    "number": _is_number, "contains_all": _contains_all, "exact": _is_exact, "regex": _matches, "not_found": _not_found, "python": _python,
}  # fmt: skip
