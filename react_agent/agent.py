"""The loop: ask the model, read its decision, run its tool, tell it what came back, until there is an answer or a limit."""

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence

from react_agent.agent_endpoint import SafeEndpoint
from react_agent.agent_journal import RunStopped
from react_agent.agent_playback import Playback
from react_agent.agent_run import Run
from react_agent.agent_setup import Setup
from react_agent.endpoints.base import Endpoint
from react_agent.errors import ConfigError
from react_agent.limits import Limits
from react_agent.prompt import load, opening
from react_agent.registry import Approval, ApprovalRequest, Tool, ToolRegistry
from react_agent.trace import Masker, Trace
from react_agent.trace_events import Event, RunStarted
from react_agent.types import Message, RunResult


class Agent:
    """An endpoint, its tools and the rules of the run. Holds no state between runs; may be used from several threads.

    instructions: the user's own, added to the system prompt.
    require_tool: no answer without a tool call behind it that succeeded, or that failed and whose failure the answer owns up to.
    check_numbers: an answer with a number or an identifier from nowhere is sent back once, and so are a calculation with such a number
    and an answer to which a number of the question was never calculated with.
    suggest_tool: the question is sent with the name of the tool that it clearly speaks of, by the words of their descriptions, or of
        the only tool where one is required.
    retry_failed_input: an answer right after a call that failed because of its input is sent back once.
    approve: asked before a tool that is not read-only runs; without it such a tool is refused.
    on_event: called with each trace event as it happens.
    trace: a file (never overwritten) or a folder. fsync: wait for the disk after each event. secrets: values masked in it.
    summarise: near the window the model writes a summary of old observations; else a note takes the place of each.
    examples, raw_history, early_stop: for measurements (worked examples in the prompt; the raw replies in the history in place of
        the decisions; close a stream when the decision is whole).
    Raises ConfigError for what is wired wrongly.
    """

    def __init__(
        self, endpoint: Endpoint, tools: ToolRegistry | Iterable[Tool] = (), *, limits: Limits | None = None, language: str = "en",
        instructions: str = "", require_tool: bool = False, check_numbers: bool = False, retry_failed_input: bool = True,
        approve: Callable[[ApprovalRequest], Approval | bool] | None = None, on_event: Callable[[Event], None] | None = None,
        trace: str | os.PathLike[str] | None = None, fsync: bool = False, secrets: Sequence[str] = (), examples: bool = True,
        raw_history: bool = False, early_stop: bool = True, suggest_tool: bool = True,
        summarise: bool = False, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        registry = tools if isinstance(tools, ToolRegistry) else ToolRegistry(tools)
        if require_tool and not len(registry):
            raise ConfigError("require_tool=True needs at least one tool")
        SafeEndpoint(endpoint)  # raises for one that has no room for a reply
        prompts = load(language)
        self._trace, self.fsync, self.mask = trace, fsync, Masker(tuple(secrets))
        messages = opening(prompts, registry, instructions, examples=examples)
        self.setup = Setup(
            endpoint=endpoint, tools=registry, limits=limits or Limits(), prompts=prompts, opening=tuple(messages),
            instructions=instructions, require_tool=require_tool, check_numbers=check_numbers, retry_failed_input=retry_failed_input,
            approve=approve, on_event=on_event, raw_history=raw_history, early_stop=early_stop, summarise=summarise,
            suggest_tool=suggest_tool, clock=clock,
        )  # fmt: skip

    def run(self, question: str, *, cancel: threading.Event | None = None, history: Sequence[Message] = (),
            tainted: bool = False) -> RunResult:  # fmt: skip
        """Answer one question. Never raises for what the model, a tool or the endpoint does; the result says how it ended.

        cancel: set it from another thread to stop the run: no further call is made or run, the endpoint's stream is closed, and a
        read-only tool that is at work is given up (it runs in a thread of its own then). A tool with side effects is waited for, so
        that its outcome is known, and so is the approval callback, after which nothing runs.
        history: the messages of earlier questions (RunResult.messages).
        tainted: text from outside is in that history, so tools with side effects always ask.
        Raises ConfigError for an empty question and TraceError when the trace cannot be opened.
        """
        if not question.strip():
            raise ConfigError("the question is empty")
        run_id = uuid.uuid4().hex[:12]
        trace = None if self._trace is None else Trace(self._trace, run_id=run_id, fsync=self.fsync, mask=self.mask)
        run = Run(self.setup, question, run_id, trace, cancel, history)
        run.calls.gate.tainted = tainted
        return self.drive(run)

    def resume(self, start: RunStarted, trace: Trace | None, playback: Playback, *, seconds_before: float = 0.0,
               cancel: threading.Event | None = None) -> RunResult:  # fmt: skip
        """Go along a recorded run and on from where it ends; see playback.py, which reads the trace."""
        run = Run(self.setup, start.question, start.run_id, trace, cancel, start.history, playback, seconds_before)
        run.calls.gate.tainted = start.tainted
        return self.drive(run)

    @staticmethod
    def drive(run: Run) -> RunResult:
        """The loop."""
        try:
            run.start()
            while (stop := run.exceeded()) is None:
                completion = run.think()
                turn = run.act(completion)
                if run.record(turn):
                    stop = "answer"
                    break
        except RunStopped as stopped:
            stop, run.error = stopped.reason, stopped.error
        except KeyboardInterrupt:
            if run.playback.active:  # nothing has been done yet that is not in the trace
                raise
            stop = "cancelled"
        return run.finish(stop)
