"""Thinking, the one call of the endpoint in a step: what is asked of it, what came back, and what a failure means for the run."""

from dataclasses import replace

from react_agent.agent_hearing import Hearing
from react_agent.agent_journal import RunStopped
from react_agent.agent_room import Room
from react_agent.agent_setup import Setup
from react_agent.decision_schema import decision_schema
from react_agent.endpoints.base import Request
from react_agent.errors import EndpointError
from react_agent.trace_events import CompletionReceived, EndpointFailed, RequestSent
from react_agent.types import Completion, StopReason, Usage

OVERFLOW_TRIES = 3  # how often a prompt that the server calls too long is made shorter


class Thinking:
    """Gets the completions of one run. forced: the limit for which the model was told to answer now, None before that."""

    def __init__(self, setup: Setup, room: Room) -> None:
        self.setup = setup
        self.room = room
        self.journal = room.journal
        self.forced: StopReason | None = None
        self._schema = decision_schema(setup.tools)

    def completion(self) -> Completion:
        """Raises RunStopped when there is no completion to be had."""
        self.room.fit()
        computed = self.room.last_affordable()
        if self.journal.playback.forced(computed is not None):
            self.forced = computed or "time_budget"
        for _ in range(OVERFLOW_TRIES):
            if stop := self.room.exceeded(self._notice_tokens):  # making room may have cost something, and time goes on
                raise RunStopped(stop)
            try:
                return self._complete()
            except EndpointError as error:
                self._recover(error)
        raise RunStopped("context_overflow")

    @property
    def _notice_tokens(self) -> int:
        """What the prompt has beside the transcript: the notice that this is the last step."""
        return self.room.transcript.meter.cost_of(self.setup.prompts.frame("last_step")) if self.forced else 0

    def _complete(self) -> Completion:
        transcript = self.room.transcript
        messages, keep = transcript.messages, transcript.sent()
        if self.forced:
            messages = transcript.with_notice(self.setup.prompts.frame("last_step"))
            keep = min(keep, len(messages) - 1)
        step, prompt = self.journal.step, transcript.tokens + self._notice_tokens
        most = self.room.reply_tokens(prompt)
        self.journal.emit(RequestSent(step, keep, tuple(messages[keep:]), most, prompt, self.forced is not None))
        recorded = self.journal.playback.completion()
        if isinstance(recorded, EndpointError):
            raise recorded
        started = self.setup.clock()
        completion = recorded or self.room.endpoint.complete(messages, self._request(step, most))
        seconds = completion.seconds if recorded else self.setup.clock() - started
        usage = transcript.meter.usage_of(completion, prompt)
        return self._received(step, replace(completion, seconds=round(seconds, 4), usage=usage))

    def _request(self, step: int, most: int) -> Request:
        heard = self.setup.on_event is not None
        hearing = Hearing(step, self.journal.tell if heard else None)
        return Request(
            max_output_tokens=most, deadline=self.room.budget.deadline, cancel=self.journal.cancel,
            schema=decision_schema(()) if self.forced else self._schema,
            closed=hearing.closed if self.setup.early_stop else None, on_restart=hearing.restart,
            on_text=hearing.text if heard else None, on_reasoning=hearing.reasoning if heard else None,
        )  # fmt: skip

    def _received(self, step: int, completion: Completion) -> Completion:
        self.room.used(completion, completion.seconds)
        self.journal.emit(CompletionReceived(
            step, completion.text, completion.finish_reason, completion.usage or Usage(), completion.reasoning, completion.refusal,
            completion.closed_early, completion.model, completion.seconds, completion.notes,
        ))  # fmt: skip
        return completion

    def _recover(self, error: EndpointError) -> None:
        """Return when the call is worth another try (the prompt was too long and is shorter now); else end the run with the reason."""
        deadline = self.room.budget.deadline
        late = deadline is not None and self.setup.clock() >= deadline - 0.1
        hint = "raise max_seconds" if late and error.kind == "timeout" and not self.journal.playback.active else error.hint
        self.journal.emit(EndpointFailed(
            self.journal.step, error.kind, error.message, hint, error.status, error.limit, error.used,
        ))  # fmt: skip
        sentence = f"{error.message.rstrip('.')}; {error.hint}" if error.hint else error.message
        if error.kind == "context_overflow":
            if self.room.overflowed(error):
                return
            raise RunStopped("context_overflow", sentence)
        if error.kind == "cancelled" or self.journal.cancelled:
            raise RunStopped("cancelled")
        if error.kind == "timeout" and self.journal.playback.out_of_time(late):
            raise RunStopped("time_budget")
        raise RunStopped("refused" if error.kind == "content_filter" else "endpoint_error", sentence)
