"""What a run may still use: its limits, and the model's window."""

import math

from react_agent.agent_endpoint import SafeEndpoint
from react_agent.agent_journal import Journal, RunStopped
from react_agent.agent_summary import Summariser
from react_agent.errors import EndpointError
from react_agent.limits import Budget
from react_agent.trace_events import PromptCounted, RequestSent
from react_agent.transcript import Transcript
from react_agent.types import Completion, StopReason, Usage

OUTPUT_CAP = 4096    # a cut reply raises the output limit once, to twice its size and at most to this
WINDOW_MARGIN = 32   # tokens kept free between prompt, reply and window
COMPACT_TO = 0.6     # compaction goes down to this share of the room, so that it happens seldom and the prefix stays cached
NEAR = 1.3           # the server is asked to count when the estimate times this passes a limit
EXPECTED_REPLY = 128 # tokens, until a longer reply was seen
LEAST_REPLY = 32     # tokens; in less no decision could be written


class Room:
    """Asked before every call: may it be made, must it be the last, how long may the reply be, does the prompt fit.

    summarise: in which words the model is asked for a summary when old observations must go, empty for one-line notes in their place.
    """

    def __init__(self, budget: Budget, transcript: Transcript, endpoint: SafeEndpoint, journal: Journal, summarise: str = "") -> None:
        self.budget = budget
        self.limits = budget.limits
        self.transcript = transcript
        self.endpoint = endpoint
        self.journal = journal
        self.output_limit = endpoint.max_output_tokens
        self.output_raised = False
        self.summariser = Summariser(summarise, budget, transcript, endpoint, journal)
        self.window: int | None = None
        self._count_asked = 0
        self._slowest = 0.0
        self._longest = 0

    def exceeded(self, more: int = 0) -> StopReason | None:
        """Why the next call may not be made. more: tokens that its prompt has beside the transcript."""
        playback = self.journal.playback
        if self.journal.cancelled:
            return "cancelled"
        if playback.next_is(RequestSent) is not None:  # what was used then was allowed then
            return self.budget.counted_out()
        late = playback.out_of_time(self.budget.out_of_time())
        return self.budget.counted_out() or ("time_budget" if late else self.budget.spent(self.prompt_tokens() + more))

    def prompt_tokens(self) -> int:
        """The size of the next prompt; the server counts it when the estimate comes near a limit."""
        estimate = self.transcript.tokens
        limit = self.limits.max_tokens
        near = limit is not None and self.budget.usage.total_tokens + NEAR * estimate > limit
        near = near or (self.window is not None and NEAR * estimate + self._reserve(self.window) > self.window)
        if near and not self.transcript.meter.exact and (counted := self._counted()):
            self.transcript.meter.reported(counted)
            return counted
        return estimate

    def _counted(self) -> int | None:
        """The server's count; asked for once for each prompt, or what hangs on it could not be replayed."""
        messages = len(self.transcript.messages)
        if messages == self._count_asked:
            return None
        self._count_asked = messages
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
        if limits.only_steps:
            return None
        prompt = self.transcript.tokens
        reply = min(self.output_limit, max(2 * self._longest, EXPECTED_REPLY))
        two_calls = budget.usage + Usage(2 * prompt + reply, 2 * reply)
        if limits.max_tokens is not None and two_calls.total_tokens > limits.max_tokens:
            return "token_budget"
        if limits.max_seconds is not None and self._slowest and budget.seconds + 2 * self._slowest > limits.max_seconds:
            return "time_budget"
        return "cost_budget" if limits.too_dear(two_calls) else None

    def reply_tokens(self, prompt: int) -> int:
        """How long the reply may be: the output limit, less when the window or a limit that is paid for leaves less."""
        rooms = [self.output_limit, self.budget.reply_room(prompt)]
        if self.window is not None:
            rooms.append(self.window - prompt - WINDOW_MARGIN)
        return max(1, min(room for room in rooms if room is not None))

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
        window = self.window
        if window is None or self.prompt_tokens() + self._reserve(window) + WINDOW_MARGIN <= window:
            return
        self._compact(window - self._reserve(window))
        if self.transcript.tokens + WINDOW_MARGIN + LEAST_REPLY > window:
            raise RunStopped("context_overflow")

    def _reserve(self, window: int) -> int:
        """What is kept free for the reply: the output limit, but never so much that hardly a prompt would fit beside it."""
        return min(self.output_limit, window // 2)

    def overflowed(self, error: EndpointError) -> bool:
        """The server says that the prompt is too long: learn its window and make the prompt shorter. False when nothing is left."""
        self.window = error.limit or math.floor(self.transcript.tokens * 0.8)
        if error.used:
            self.transcript.meter.reported(error.used)
        return self._compact(self.window - self._reserve(self.window))

    def _compact(self, room: int) -> bool:
        done = self.transcript.compact(math.floor((room - WINDOW_MARGIN) * COMPACT_TO), summary=self.summariser.summary(self.window))
        if done:
            self.journal.note("compacted", f"{done} old messages were replaced by a line each, or cut; the prompt is about "
                              f"{self.transcript.tokens} tokens now")  # fmt: skip
        return done > 0
