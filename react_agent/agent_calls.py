"""The tool calls of one run: the guard against repetition, the three stages of the registry, and what the trace says of them."""

import logging
from collections.abc import Callable

from react_agent.agent_guards import INPUT_ERRORS, CallMemory, call_key
from react_agent.agent_journal import Journal, RunStopped
from react_agent.limits import Budget
from react_agent.registry import Gate, Prepared, ToolRegistry
from react_agent.trace_events import ToolEnded, ToolStarted
from react_agent.types import Observation, StopReason, ToolCall

_LOG = logging.getLogger("react_agent")


class Calls:
    """Runs tool calls. unknown_outcome: what the model is told about a call with side effects that a crash interrupted."""

    def __init__(self, tools: ToolRegistry, gate: Gate, journal: Journal, budget: Budget, clock: Callable[[], float],
                 unknown_outcome: str) -> None:  # fmt: skip
        self.tools = tools
        self.gate = gate
        self.journal = journal
        self.budget = budget
        self.clock = clock
        self.memory = CallMemory()
        self.side_effects: list[ToolCall] = []
        self._unknown_outcome = unknown_outcome
        self._crashes: dict[str, int] = {}

    def run(self, step: int, call: ToolCall, checked: Prepared | Observation, known: str) -> tuple[Observation, StopReason | None]:
        """Permit, execute, finalize; what cannot be executed is an observation too. The stop reason is set by a second crash.

        known: the call as the memory knows it (known_as).
        """
        prepared = self._prepare(call, checked)
        if isinstance(prepared, Observation):
            self.journal.emit(ToolEnded(step, call.name, prepared.content, prepared.error, prepared.truncated))
            self.memory.ran(known, None, prepared)
            return prepared, None
        if self.journal.cancelled:  # while a person was asked, or before that
            raise RunStopped("cancelled")
        tool = prepared.tool
        self.journal.emit(ToolStarted(step, tool.name, prepared.call.arguments, tool.read_only, prepared.coercions))
        started = self.clock()
        if not tool.read_only:
            self.side_effects.append(prepared.call)
        observation, crash = self._outcome(prepared)
        seconds = round(self.clock() - started, 4)
        if not tool.read_only and observation.error in INPUT_ERRORS:
            self.side_effects.pop()  # the tool refused its input: nothing happened
        self.journal.emit(ToolEnded(step, tool.name, observation.content, observation.error, observation.truncated, seconds, crash))
        self.memory.ran(known, tool, observation)
        return observation, self._count_crash(tool.name, crash)

    def _prepare(self, call: ToolCall, checked: Prepared | Observation) -> Prepared | Observation:
        """What was decided in a recorded run stands: nobody is asked twice."""
        refused, tool = self.journal.playback.next_is(ToolEnded), self.tools.get(call.name)
        if refused is not None:  # perhaps by its preview, with words from outside
            self.gate.tainted = self.gate.tainted or (tool is not None and tool.untrusted_output)
            return Observation(refused.content, refused.error, refused.truncated)
        started = self.journal.playback.next_is(ToolStarted)
        if started is not None and tool is not None:
            return Prepared(tool, ToolCall(call.name, dict(started.arguments)), started.coercions)
        return checked if isinstance(checked, Observation) else self.tools.permit(checked, self.gate)

    def _outcome(self, prepared: Prepared) -> tuple[Observation, str]:
        tool, playback = prepared.tool, self.journal.playback
        recorded = playback.observation()
        if recorded is not None:
            self.gate.tainted = self.gate.tainted or tool.untrusted_output
            return recorded
        if playback.take_interrupted() and not tool.read_only:
            return Observation(self._unknown_outcome, "outcome_unknown"), ""
        deadline = self.budget.deadline
        left = None if deadline is None else max(0.001, deadline - self.clock())
        execution = self.tools.execute(prepared, left, self.journal.cancel if tool.read_only else None)
        if execution.cancelled:
            raise RunStopped("cancelled")
        outcome = self.tools.finalize(prepared, execution, self.gate)
        if outcome.crash:
            _LOG.error("the tool %s crashed:\n%s", tool.name, outcome.crash)
        return outcome.observation, outcome.crash

    def _count_crash(self, tool: str, crash: str) -> StopReason | None:
        if not crash:
            return None
        self._crashes[tool] = self._crashes.get(tool, 0) + 1
        return "tool_crash" if self._crashes[tool] >= 2 else None


def known_as(call: ToolCall, checked: Prepared | Observation) -> str:
    """The key of the call in the memory: as it would run; of one that cannot run as it was written."""
    return call_key(call if isinstance(checked, Observation) else checked.with_defaults)
