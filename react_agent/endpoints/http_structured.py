"""How an HTTP endpoint holds replies to their schema: asked for in so many words, or where one probe proves that the server does."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from react_agent.endpoints.base import PLAIN, Request
from react_agent.endpoints.http_call import Ask
from react_agent.endpoints.http_learned import Ladder
from react_agent.endpoints.http_retry import Deadline
from react_agent.endpoints.structured import ANY_OBJECT, PROBE, PROBE_SCHEMA, PROBE_TOKENS, Mode, Proof, Structured, proof_of, rungs_of
from react_agent.errors import EndpointError
from react_agent.types import Completion, Message


class StructuredOutput(ABC):
    """The part of an HttpEndpoint that knows about it. ladder: what is left to ask for. _unsaid: notes for the next completion."""

    auto_modes: tuple[Mode, ...] = ("json_schema", "grammar")  # what "auto" may take, the best first

    def __init__(self, structured: Structured, unsaid: Sequence[str]) -> None:
        rungs = rungs_of(structured)
        self.structured = structured
        self.ladder = Ladder()
        self._unsaid = list(unsaid)
        self._proving = threading.Lock()
        self._unproved = structured == "auto"
        offered = tuple(mode for mode in rungs if self.offers(mode))
        self.ladder.learn(constraint=offered)
        if rungs and not offered:
            self._unsaid.append(f"structured output: this API has no place for {structured}; asked without")

    @abstractmethod
    def complete(self, messages: Sequence[Message], request: Request = PLAIN) -> Completion: ...

    @abstractmethod
    def variant(self, **settings: Any) -> Self: ...

    def constraint(self, mode: Mode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
        """The fields of a request that hold the reply to a schema in this way; None: this API has no place for it."""
        return None

    def offers(self, mode: Mode) -> bool:
        """Whether this API has a place for this kind of structured output."""
        return self.constraint(mode, ANY_OBJECT) is not None

    def proof(self, mode: Mode, request: Request = PLAIN) -> Proof:
        """One call that shows whether the server holds to it. request: its deadline and cancel. Raises EndpointError."""
        asked = self.variant()
        asked.ladder.learn(constraint=(mode,))
        only = replace(PLAIN, max_output_tokens=PROBE_TOKENS, schema=PROBE_SCHEMA, deadline=request.deadline, cancel=request.cancel)
        completion = asked.complete(PROBE, only)
        return proof_of(mode, completion, refused=not asked.ladder.learned.constraint)

    def proved(self, modes: Sequence[str]) -> None:
        """These are known to be enforced; "auto" takes the best of them, and probes nothing."""
        if self._unproved:
            self._unproved = False
            self.ladder.learn(constraint=tuple(mode for mode in self.auto_modes if mode in modes and self.offers(mode))[:1])

    def constraint_for(self, ask: Ask) -> dict[str, Any]:
        """What a request's body needs to hold the reply to its schema; nothing where it is off, or nothing is left to try."""
        left = self.ladder.learned.constraint
        return (self.constraint(left[0], ask.request.schema) or {}) if left and ask.request.schema is not None else {}

    def _prove(self, request: Request, deadline: Deadline) -> None:
        """For "auto": one probe for the life of this endpoint. One that fails says the same as one that shows nothing."""
        with self._proving:
            if not self._unproved:
                return
            mode = next((mode for mode in self.auto_modes if self.offers(mode)), None)
            if mode is None:
                self.proved([])
                self._unsaid.append("structured output: this API has no place for it; asked without")
                return
            try:
                found = self.proof(mode, replace(request, deadline=deadline.at))
            except EndpointError as error:
                if error.kind in ("cancelled", "timeout"):
                    raise
                found = Proof(mode, "unproved", error.message[:160])
            self.proved([mode] if found.state == "enforced" else [])
            ending = "" if found.state == "enforced" else "; asked without"
            self._unsaid.append(f"structured output: {found} ({found.tokens} tokens for the probe){ending}")
