"""The tasks of an evaluation: read from JSON Lines, chosen, and judged."""

import collections
import fnmatch
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.errors import ConfigError
from react_agent.evaluate_checks import Check, Functions, check_from
from react_agent.evaluate_lines import read_lines


@dataclass(frozen=True, slots=True)
class Task:
    """A question and how its answer is judged.

    tools: where needs_tool is set, a successful call of one of them must stand behind the answer; where failed_call_counts is set, a
    failed one will do (for what does not exist).
    """

    id: str
    question: str
    check: Check
    kind: str = ""
    needs_tool: bool = False
    tools: tuple[str, ...] = ()
    failed_call_counts: bool = False

    def fault(self, answer: str | None, calls: Sequence[Mapping[str, Any]]) -> str:
        """What is wrong with an answer, "" when it is right. calls: {"tool", "ok"} of each call of the run."""
        if answer is None or not answer.strip():
            return "there is no answer"
        return self.check.fault(self.question, answer) or (self._unfounded(calls) if self.needs_tool else "")

    def _unfounded(self, calls: Sequence[Mapping[str, Any]]) -> str:
        relevant = [call for call in calls if call["tool"] in self.tools]
        if not relevant:
            return f"it answers without a call of {' or '.join(self.tools)}"
        if self.failed_call_counts or any(call["ok"] for call in relevant):
            return ""
        return f"it answers although each call of {' or '.join(self.tools)} failed"


def read_tasks(paths: Iterable[str | os.PathLike[str]], functions: Functions | None = None) -> list[Task]:
    """The tasks of JSON Lines files; ConfigError names the line that is none, and an id that is used twice.

    A line: {"id", "question", "check", "kind", "needs_tool", "tools", "failed_call_counts"}, the first three required, other keys ignored.
    check: {"type": "number", "value", "tol"} | {"type": "contains_all", "values"} | {"type": "exact", "value"} | {"type": "not_found"} |
    {"type": "regex", "pattern"} | {"type": "python", "function"}, a name in functions.
    """
    tasks = [task_from(body, where, functions or {}) for path in paths for where, body in read_lines(path)]
    if not tasks:
        raise ConfigError("there are no tasks in " + ", ".join(map(str, paths)))
    twice = [name for name, count in collections.Counter(task.id for task in tasks).items() if count > 1]
    if twice:
        raise ConfigError(f"more than one task has the id {', '.join(twice)}")
    return tasks


def task_from(body: Mapping[str, Any], where: str, functions: Functions) -> Task:
    """A task from a line of JSON; ConfigError names the line and what is not right in it."""
    texts = {name: body.get(name, "") for name in ("id", "question", "kind")}
    for name, value in texts.items():
        if not isinstance(value, str) or (name != "kind" and not value.strip()):
            what = f"a task needs a {name}" if name not in body else f"a task's {name} must be a text, not {value!r}"
            raise ConfigError(f"{where}: {what}")
    flags = {name: body.get(name, False) for name in ("needs_tool", "failed_call_counts")}
    tools = body.get("tools", [])
    if not all(isinstance(value, bool) for value in flags.values()):
        raise ConfigError(f"{where}: {' and '.join(flags)} must be true or false")
    if not isinstance(tools, list) or not all(isinstance(name, str) for name in tools):
        raise ConfigError(f"{where}: tools must be a list of names")
    if flags["needs_tool"] and not tools:
        raise ConfigError(f"{where}: needs_tool is set, so tools must name those of which one must be called")
    return Task(check=check_from(body.get("check"), functions, where), tools=tuple(tools), **texts, **flags)


def chosen(tasks: Sequence[Task], patterns: Sequence[str]) -> list[Task]:
    """The tasks whose kind or id is one of the patterns (* and ? stand for anything); all of them without a pattern."""
    for pattern in patterns:
        if not any(_fits(task, pattern) for task in tasks):
            kinds = ", ".join(sorted({task.kind for task in tasks if task.kind})) or "none"
            raise ConfigError(f"no task has the kind or the id {pattern!r}; kinds: {kinds}")
    return [task for task in tasks if not patterns or any(_fits(task, pattern) for pattern in patterns)]


def _fits(task: Task, pattern: str) -> bool:
    return fnmatch.fnmatchcase(task.kind, pattern) or fnmatch.fnmatchcase(task.id, pattern)
