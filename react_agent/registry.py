"""Tools and their registry. A call goes through three stages: prepare, execute, finalize.

prepare finds the tool, checks the arguments and asks for approval; execute runs the function and survives whatever it does;
finalize makes the observation. An unknown tool, bad arguments, a refusal and a crash all end as an Observation.
"""

import math
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from react_agent.errors import ConfigError, ToolError
from react_agent.registry_approval import Approval, ApprovalRequest, Approve, Gate
from react_agent.registry_arguments import ArgumentChecker
from react_agent.registry_execution import Execution, attempt, attempt_within
from react_agent.registry_function import takes_any_name
from react_agent.registry_mistakes import near, quoted, signature
from react_agent.registry_observation import DEFAULT_MAX, checked_maximum, failed, succeeded
from react_agent.registry_plain import plain
from react_agent.registry_tool import Tool, tool
from react_agent.types import Observation, ToolCall

__all__ = [
    "Approval", "ApprovalRequest", "Approve", "Execution", "Gate", "Outcome", "Prepared", "Tool", "ToolRegistry", "signature", "tool",
]  # fmt: skip

_NAME = re.compile(r"\w[\w.-]{0,63}")
_TAKEN = frozenset({"none", "null", "final_answer"})  # what a reply says when it calls no tool


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may run. call: with arguments after validation. coercions: what was read as something else, `limit: '3' -> 3`."""

    tool: Tool
    call: ToolCall
    coercions: tuple[str, ...] = ()

    @property
    def with_defaults(self) -> ToolCall:
        """The call with what it leaves to the tool filled in, so that calls that say the same in other words are equal."""
        properties = self.tool.parameters.get("properties", {}).items()
        defaults = {name: schema["default"] for name, schema in properties if isinstance(schema, Mapping) and "default" in schema}
        return ToolCall(self.tool.name, {**defaults, **self.call.arguments}) if defaults else self.call


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call. crash: the traceback, for the trace and the log, when the tool raised what is not a ToolError."""

    observation: Observation
    crash: str = ""


class ToolRegistry:
    """The tools of one agent, by name. It holds no state of a run: that is the Gate's."""

    def __init__(self, tools: Iterable[Tool] = (), max_observation: int = DEFAULT_MAX) -> None:
        """max_observation: characters. Raises ConfigError for two tools of one name and for a schema that is not one."""
        self.max_observation = checked_maximum(max_observation)
        self._tools: dict[str, Tool] = {}
        for each in tools:
            _refuse_tool(each)
            if each.name in self._tools:
                raise ConfigError(f"two tools are named {each.name!r}; give one of them another name")
            self._tools[each.name] = each
        self._folded: dict[str, tuple[str, ...]] = {}
        for name in self._tools:
            self._folded[name.casefold()] = (*self._folded.get(name.casefold(), ()), name)
        self._checkers = {
            each.name: ArgumentChecker(each.name, each.parameters, closed=not takes_any_name(each.function)) for each in self
        }

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._tools)

    def get(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def alike(self, name: str) -> tuple[str, ...]:
        """The names that are this one but for upper and lower case."""
        return self._folded.get(name.casefold(), ())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def check(self, call: ToolCall) -> Prepared | Observation:
        """The call with its arguments after validation; or, already decided, what the model is told: unknown tool, bad arguments."""
        try:
            tool = self._find(call.name)
            arguments, coercions = self._checkers[tool.name].check(call.arguments)
        except ToolError as error:
            return failed(error, self.max_observation, call)
        return Prepared(tool, ToolCall(tool.name, arguments), coercions)

    def permit(self, checked: Prepared, gate: Gate) -> Prepared | Observation:
        """The call, ready to run; or what the model is told: not approved, or what its preview says against it."""
        try:
            gate.check(checked.tool, checked.call)
        except ToolError as error:
            own = error.type != "not_approved" and checked.tool.untrusted_output
            gate.tainted = gate.tainted or own
            return failed(error, self.max_observation, checked.call, untrusted=own)
        return checked

    def prepare(self, call: ToolCall, gate: Gate) -> Prepared | Observation:
        """Both: checked and permitted, or what the model is told."""
        checked = self.check(call)
        return checked if isinstance(checked, Observation) else self.permit(checked, gate)

    def execute(self, prepared: Prepared, timeout_s: float | None = None, cancel: threading.Event | None = None) -> Execution:
        """Run the tool for at most the shorter of its own timeout and timeout_s (seconds), and until cancel is set. Only
        KeyboardInterrupt gets out."""
        tool, arguments = prepared.tool, prepared.call.arguments

        def run() -> object:
            return plain(tool.function(**tool.keywords(arguments)), self.max_observation)

        limits = [seconds for seconds in (tool.timeout_s, timeout_s) if seconds is not None]
        if not limits and cancel is None:
            return attempt(run)
        if limits and min(limits) <= 0:
            return Execution(error=ToolError("timeout", f"no time was left for {tool.name}; it was not run", "answer from what is known"))
        return attempt_within(run, min(limits, default=math.inf), cancel)

    def finalize(self, prepared: Prepared, raw: Execution, gate: Gate) -> Outcome:
        """What the model is told about an execution. Remembers in the gate that text from outside came in."""
        tool, most = prepared.tool, self.max_observation
        gate.tainted = gate.tainted or tool.untrusted_output
        error = _timeout(tool) if raw.timed_out else _crash(tool) if raw.crash else raw.error
        own = raw.error is not None and tool.untrusted_output
        observation = failed(error, most, prepared.call, untrusted=own) if error else succeeded(tool, raw.value, most)
        return Outcome(observation, raw.crash)

    def _find(self, name: str) -> Tool:
        found = self._tools.get(name)
        if found is not None:
            return found
        meant = near(name, self._tools)
        hint = (f"did you mean {meant!r}? " if meant else "") + f"tools: {', '.join(self._tools) or 'none'}"
        raise ToolError("unknown_tool", f"there is no tool named {quoted(name)}", hint)


def _refuse_tool(tool: object) -> None:
    """ConfigError for a tool that a model could not call, or that could never end in time."""
    if not isinstance(tool, Tool):
        name = getattr(tool, "__name__", repr(tool)[:60])
        raise ConfigError(f"{name} is no tool; write @tool above the function, or make it one with tool({name})")
    if not _NAME.fullmatch(tool.name) or tool.name.lower() in _TAKEN:
        raise ConfigError(f"a tool cannot be named {tool.name!r}; use letters, digits, _, - and . (up to 64), and no word like none")
    if tool.timeout_s is not None and not tool.timeout_s > 0:
        raise ConfigError(f"the timeout_s of tool {tool.name!r} must be above 0 (or None for no limit), not {tool.timeout_s}")


def _timeout(tool: Tool) -> ToolError:
    if tool.read_only:
        return ToolError("timeout", f"{tool.name} took too long and was given up", "ask for less, or go on without it")
    message = f"{tool.name} took too long and was given up; whether it took effect is unknown"
    return ToolError("timeout", message, "do not repeat it; say that its outcome is unknown")


def _crash(tool: Tool) -> ToolError:
    fate = "" if tool.read_only else "; whether it took effect is unknown"
    hint = "this is not your mistake; go on without it, and do not invent its result"
    return ToolError("tool_crash", f"{tool.name} failed inside{fate}", hint)
