"""What a run may still use: its limits, and the model's window."""

import math
from dataclasses import replace

from react_agent.agent_endpoint import SafeEndpoint
from react_agent.agent_journal import Journal, RunStopped
from react_agent.endpoints.base import Request
from react_agent.errors import EndpointError
from react_agent.limits import Budget
from react_agent.tokens import estimate_prompt, estimate_tokens
from react_agent.trace_events import PromptCounted, RequestSent, Summarised
from react_agent.transcript import Transcript
from react_agent.types import Completion, Message, StopReason, Usage

OUTPUT_CAP = 4096    # a cut reply raises the output limit once, to twice its size and at most to this
WINDOW_MARGIN = 32   # tokens kept free between prompt, reply and window
COMPACT_TO = 0.6     # compaction goes down to this share of the room, so that it happens seldom and the prefix stays cached
NEAR = 1.3           # the server is asked to count when the estimate times this passes a limit
EXPECTED_REPLY = 128 # tokens, until a longer reply was seen
SUMMARY_TOKENS = 256 # of a summary of old observations
SUMMARY_CHARS = 1500


class Room:
    """Asked before every call: may it be made, must it be the last, how long may the reply be, does the prompt fit.

    summarise: what the model is asked for when old observations must go, empty for one-line notes in their place.
    """

    def __init__(self, budget: Budget, transcript: Transcript, endpoint: SafeEndpoint, journal: Journal, summarise: str = "") -> None:
        self.budget = budget
        self.limits = budget.limits
        self.transcript = transcript
        self.endpoint = endpoint
        self.journal = journal
        self.output_limit = endpoint.max_output_tokens
        self.output_raised = False
        self._summarise = summarise
        self.window: int | None = None
        self._slowest = 0.0
        self._longest = 0

    def exceeded(self) -> StopReason | None:
        """Why the next call may not be made."""
        playback = self.journal.playback
        if self.journal.cancel.is_set() and not playback.active:
            return "cancelled"
        if playback.next_is(RequestSent) is not None:  # what was used then was allowed then
            return self.budget.counted_out()
        late = playback.out_of_time(self.budget.out_of_time())
        return self.budget.counted_out() or ("time_budget" if late else self.budget.spent(self.prompt_tokens()))

    def prompt_tokens(self) -> int:
        """The size of the next prompt; the server counts it when the estimate comes near a limit."""
        estimate = self.transcript.tokens
        limit = self.limits.max_tokens
        near = limit is not None and self.budget.usage.total_tokens + NEAR * estimate > limit
        near = near or (self.window is not None and NEAR * estimate + self.output_limit > self.window)
        if near and not self.transcript.meter.exact and (counted := self._counted()):
            self.transcript.meter.reported(counted)
            return counted
        return estimate

    def _counted(self) -> int | None:
        playback = self.journal.playback
        recorded = playback.next_is(PromptCounted)
        counted = recorded.tokens if recorded else None if playback.active else self.endpoint.count_tokens(self.transcript.messages)
        if counted:
            self.journal.emit(PromptCounted(self.journal.step, counted))
        return counted

    def last_affordable(self) -> StopReason | None:
        """The limit that leaves room for one more call only, so that this one must be the answer."""
        limits, budget = self.limits, self.budget
        if budget.steps + 1 >= limits.max_steps:
            return "max_steps"
        prompt = self.transcript.tokens
        reply = min(self.output_limit, max(2 * self._longest, EXPECTED_REPLY))
        two_calls = budget.usage + Usage(2 * prompt + reply, 2 * reply)
        if limits.max_tokens is not None and two_calls.total_tokens > limits.max_tokens:
            return "token_budget"
        if limits.max_seconds is not None and self._slowest and budget.seconds + 2 * self._slowest > limits.max_seconds:
            return "time_budget"
        cost = limits.cost(two_calls)
        if limits.max_cost is not None and cost is not None and cost > limits.max_cost:
            return "cost_budget"
        return None

    def reply_tokens(self) -> int:
        """How long the reply may be: the output limit, less when the window or the token budget leaves less."""
        room = self.output_limit
        prompt = self.transcript.tokens
        if self.window is not None:
            room = min(room, self.window - prompt - WINDOW_MARGIN)
        if self.limits.max_tokens is not None:
            room = min(room, self.limits.max_tokens - self.budget.usage.total_tokens - prompt)
        return max(1, room)

    def usage_of(self, completion: Completion, prompt: int) -> Usage:
        """What a call used: what the server does not tell, or tells as nothing, is estimated. prompt: its size as we know it."""
        told = completion.usage or Usage()
        written = math.ceil(estimate_tokens(completion.text + completion.reasoning) * self.transcript.meter.factor)
        whole = (told.input_tokens or prompt, told.output_tokens or written)
        ours = whole != (told.input_tokens, told.output_tokens)
        return replace(told, input_tokens=whole[0], output_tokens=whole[1], estimated=told.estimated or ours)

    def used(self, completion: Completion, seconds: float) -> None:
        """A call was made: book it, and let the meter learn from the server's count."""
        usage = completion.usage or Usage()
        self._slowest = max(self._slowest, seconds)
        self._longest = max(self._longest, usage.output_tokens)
        if not usage.estimated and 0.3 < usage.input_tokens / max(1, self.transcript.tokens) < 3:
            self.transcript.meter.reported(usage.input_tokens)
        self.budget.add(usage)

    def raise_output(self) -> bool:
        """After a reply that was cut: raise the output limit, once. False when that was done or nothing is left to raise."""
        if self.output_raised or self.output_limit >= OUTPUT_CAP:
            return False
        self.output_raised = True
        self.output_limit = min(OUTPUT_CAP, 2 * self.output_limit)
        self.journal.note("output_raised", f"the reply was cut by the output limit, which is now {self.output_limit} tokens")
        return True

    def fit(self) -> None:
        """Make room for the reply by replacing old observations; raises RunStopped when the prompt cannot be made to fit."""
        if self.window is None or self.prompt_tokens() + self.output_limit + WINDOW_MARGIN <= self.window:
            return
        self._compact(self.window - self.output_limit)
        if self.transcript.tokens + WINDOW_MARGIN >= self.window:
            raise RunStopped("context_overflow")

    def overflowed(self, error: EndpointError) -> bool:
        """The server says that the prompt is too long: learn its window and make the prompt shorter. False when nothing is left."""
        self.window = error.limit or math.floor(self.transcript.tokens * 0.8)
        if error.used:
            self.transcript.meter.reported(error.used)
        return self._compact(self.window - min(self.output_limit, self.window // 4))

    def _compact(self, room: int) -> bool:
        done = self.transcript.compact(math.floor((room - WINDOW_MARGIN) * COMPACT_TO), summary=self._summary())
        if done:
            self.journal.note("compacted", f"{done} old observations were replaced by a line each; the prompt is about "
                              f"{self.transcript.tokens} tokens now")  # fmt: skip
        return done > 0

    def _summary(self) -> str:
        """The model's own summary of what must go, paid from the same budget; empty where it is not wanted or not to be had."""
        old = self.transcript.old() if self._summarise else []
        if not old:
            return ""
        if (recorded := self.journal.playback.next_is(Summarised)) is not None:
            text, usage = str(recorded.text), recorded.usage
        else:
            completion = None if self.journal.playback.active else self._asked_for_summary(old)
            if completion is None or not completion.text.strip():
                return ""
            text, usage = completion.text.strip()[:SUMMARY_CHARS], completion.usage or Usage()
        self.budget.add_aside(usage)
        self.journal.emit(Summarised(self.journal.step, text, usage))
        return text

    def _asked_for_summary(self, old: list[tuple[str, str]]) -> Completion | None:
        messages = [Message("user", self._summarise + "\n\n" + "\n\n".join(content for _, content in old))]
        expected = estimate_prompt(messages) + SUMMARY_TOKENS
        if self.budget.exceeded(expected) or (self.window is not None and expected > self.window):
            return None
        request = Request(SUMMARY_TOKENS, deadline=self.budget.deadline, cancel=self.journal.cancel)
        try:
            return self.endpoint.complete(messages, request)
        except EndpointError:
            return None
