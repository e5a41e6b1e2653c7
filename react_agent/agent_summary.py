"""The model's own summary of old observations, paid from the budget of the run."""

from react_agent.agent_endpoint import SafeEndpoint
from react_agent.agent_journal import Journal
from react_agent.endpoints.base import Request
from react_agent.errors import EndpointError
from react_agent.limits import Budget
from react_agent.registry_neutral import neutral
from react_agent.segments import CLOSING, OPENING
from react_agent.tokens import estimate_prompt
from react_agent.trace_events import Summarised
from react_agent.transcript import Transcript
from react_agent.types import Completion, Message

SUMMARY_TOKENS = 256
SUMMARY_CHARS = 1500


class Summariser:
    """Asks the endpoint for a summary of what compaction is about to replace. asked: in which words; empty where none is wanted."""

    def __init__(self, asked: str, budget: Budget, transcript: Transcript, endpoint: SafeEndpoint, journal: Journal) -> None:
        self._asked = asked
        self._budget = budget
        self._transcript = transcript
        self._endpoint = endpoint
        self._journal = journal

    def summary(self, window: int | None) -> str:
        """The summary; empty where it is not wanted, not affordable, or not to be had. What it cost is booked in any case."""
        old = self._transcript.old() if self._asked else []
        if not old:
            return ""
        recorded: Summarised | None = self._journal.playback.next_is(Summarised)
        if recorded is None:
            recorded = None if self._journal.playback.active else self._bought(old, window)
        if recorded is None:
            return ""
        self._budget.add_aside(recorded.usage)
        self._journal.emit(recorded)
        return neutral(recorded.text)  # the model's words, in a turn that is not the model's

    def _bought(self, old: list[tuple[str, str]], window: int | None) -> Summarised | None:
        messages = [Message("user", self._asked + "\n\n" + "\n\n".join(content for _, content in old))]
        prompt = self._transcript.meter.corrected(estimate_prompt(messages))
        if window is not None and prompt + SUMMARY_TOKENS > window:
            return None
        if self._budget.exceeded(prompt + self._transcript.tokens, SUMMARY_TOKENS):  # the call that it is for must still be affordable
            return None
        request = Request(SUMMARY_TOKENS, deadline=self._budget.deadline, cancel=self._journal.cancel)
        try:
            completion = self._endpoint.complete(messages, request)
        except EndpointError:
            return None
        usage = self._transcript.meter.usage_of(completion, prompt)
        return Summarised(self._journal.step, _facts(completion), usage)


def _facts(completion: Completion) -> str:
    """What was written behind the reasoning; nothing where the reasoning was cut."""
    ends = [match.end() for match in CLOSING.finditer(completion.text)]
    text = completion.text[max(ends, default=0) :].strip()
    opened = OPENING.search(text)
    return (text if opened is None else text[: opened.start()]).strip()[:SUMMARY_CHARS]
