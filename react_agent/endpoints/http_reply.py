"""The pieces of a reply, and the one place where they become a Completion."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from react_agent.endpoints.base import Request
from react_agent.types import Usage


@dataclass(frozen=True, slots=True)
class Delta:
    """What one object of a reply adds. finish: the server's own word for why the model stopped, None while it has not;
    usage: the counts so far, later ones replace earlier ones; done: the server says that nothing follows."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish: str | None = None
    usage: Usage | None = None
    model: str = ""
    done: bool = False


@dataclass(slots=True)
class Reply:
    """A reply as it comes together. cut: its text ended at one of our stop words; closed_early: the caller had seen enough."""

    request: Request
    stop: Sequence[str] = ()
    watched: bool = True
    parts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: str = ""
    finish: str | None = None
    usage: Usage | None = None
    model: str = ""
    done: bool = False
    closed_early: bool = False
    handed_out: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)

    @property
    def ended(self) -> bool:
        """Whether the server said that this is the end."""
        return self.done or self.finish is not None

    def add(self, delta: Delta) -> bool:
        """Take what came; True says that nothing more is wanted."""
        self.refusal += delta.refusal
        self.finish = delta.finish if delta.finish is not None else self.finish
        self.usage = delta.usage or self.usage
        self.model = delta.model or self.model
        self.done = self.done or delta.done
        if delta.reasoning:
            self.reasoning.append(delta.reasoning)
            self._hand(self.request.on_reasoning, delta.reasoning)
        if delta.text:
            self.parts.append(delta.text)
            self._hand(self.request.on_text, delta.text)
            if self.watched and self.request.closed is not None and self.request.closed(delta.text):
                self.closed_early = True
        return self.done or self.closed_early

    def _hand(self, receiver: Callable[[str], None] | None, piece: str) -> None:
        self.handed_out = True
        if receiver is not None:
            receiver(piece)
