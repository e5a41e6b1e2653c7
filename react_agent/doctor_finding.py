"""What a check finds, and what it examines."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from react_agent.endpoints.base import PLAIN, Endpoint, Request
from react_agent.endpoints.http_endpoint import HttpEndpoint
from react_agent.types import Completion, Message

# good: nothing to do. mind: works, with what meaning says. bad: runs will suffer. unknown: could not be found out.
Verdict = Literal["good", "mind", "bad", "unknown"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the result. outcome: a slug of doctor_words.WORDS, or "failed". found, evidence, meaning: in words.

    values: the same for programs. seconds, tokens: what the check cost.
    """

    name: str
    outcome: str
    verdict: Verdict
    found: str
    evidence: str = ""
    meaning: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    tokens: int = 0


class Patient:
    """An endpoint under examination. replies, tokens: of all calls so far. deadline: of the present check, in the clock's time."""

    def __init__(self, endpoint: Endpoint, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.endpoint = endpoint
        self.seconds = seconds
        self.clock = clock
        self.deadline = clock() + seconds
        self.replies = 0
        self.tokens = 0

    def next_check(self) -> None:
        self.deadline = self.clock() + self.seconds

    @property
    def remaining(self) -> float:
        return max(0.001, self.deadline - self.clock())

    @property
    def http(self) -> HttpEndpoint | None:
        """The endpoint where it is one whose requests can be looked into."""
        return self.endpoint if isinstance(self.endpoint, HttpEndpoint) else None

    @property
    def request(self) -> Request:
        """What every call of a check is asked at least."""
        return Request(deadline=self.deadline)

    def ask(self, messages: Sequence[Message] | str, cap: int, *, of: Endpoint | None = None, request: Request = PLAIN) -> Completion:
        """One call within the check's time. of: a variant of the endpoint. Raises EndpointError."""
        asked = [Message("user", messages)] if isinstance(messages, str) else messages
        whole = Request(cap, self.deadline, request.closed, request.on_text, request.on_reasoning, request.on_restart, request.schema)
        completion = (of or self.endpoint).complete(asked, whole)
        self.heard(1, completion.usage.total_tokens if completion.usage else 0)
        return completion

    def heard(self, replies: int, tokens: int) -> None:
        """Book calls that were made."""
        self.replies += replies
        self.tokens += tokens


def excerpt(text: str, most: int = 60) -> str:
    """The beginning of a text on one line, in quotes."""
    line = " ".join(text.split())
    return repr(line if len(line) <= most else line[:most] + "…")
