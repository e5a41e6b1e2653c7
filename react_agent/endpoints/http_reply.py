"""The pieces of a reply, and the one place where they come together."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from react_agent.endpoints.base import Request
from react_agent.endpoints.http_decode import Counts


@dataclass(frozen=True, slots=True)
class Delta:
    """What one object of a reply adds.

    finish: the server's own word for why the model stopped, None while it has not. counts: later ones replace earlier ones.
    calls: pieces of native tool calls (index, name, piece of the arguments). server: the program, where the reply gives it
    away. done: the server says that nothing follows.
    """

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish: str | None = None
    counts: Counts | None = None
    calls: tuple[tuple[int, str, str], ...] = ()
    model: str = ""
    server: str = ""
    done: bool = False


@dataclass(slots=True)
class Reply:
    """A reply as it comes together. stop: words at which its text ends, also where the server ignores them.

    watched: whether request.closed is asked. closed_early: it said that the decision is whole. cut: the text ended at a stop
    word. handed_out: somebody was given a piece, so that beginning anew has to be announced.
    """

    request: Request
    stop: Sequence[str] = ()
    watched: bool = True
    parts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: dict[int, list[str]] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    refusal: str = ""
    finish: str | None = None
    model: str = ""
    server: str = ""
    done: bool = False
    closed_early: bool = False
    cut: bool = False
    handed_out: bool = False
    _held: str = ""

    @property
    def text(self) -> str:
        return "".join(self.parts) + self._held

    @property
    def reasoning(self) -> str:
        return "".join(self.thoughts)

    @property
    def ended(self) -> bool:
        """Whether the server said that this is the end, or we did."""
        return self.done or self.finish is not None or self.satisfied

    @property
    def satisfied(self) -> bool:
        return self.closed_early or self.cut

    def add(self, delta: Delta) -> None:
        self.refusal += delta.refusal
        self.finish = delta.finish or self.finish
        self.counts = self.counts.updated(delta.counts)
        self.model = delta.model or self.model
        self.server = delta.server or self.server
        self.done = self.done or delta.done
        for index, name, arguments in delta.calls:
            call = self.calls.setdefault(index, [])
            call[:] = ["".join(call[:1]) + name, "".join(call[1:]) + arguments]
        if delta.reasoning:
            self.thoughts.append(delta.reasoning)
            self._hand(self.request.on_reasoning, delta.reasoning)
        if delta.text and not self.satisfied:
            self._take(delta.text)

    def flush(self) -> None:
        """The end: what was held back because it might have begun a stop word is text."""
        piece, self._held = self._held, ""
        self._give(piece)

    def tool_call_text(self) -> str:
        """The native tool calls as the JSON text that was asked for; a call that was cut stays cut."""
        return "\n".join(_as_decision(name, arguments) for name, arguments in (self.calls[index] for index in sorted(self.calls)))

    def _take(self, text: str) -> None:
        """Hand out all of it but what a stop word ends, or may yet end."""
        text = self._held + text
        places = [place for word in self.stop if (place := text.find(word)) >= 0]
        if places:
            self.cut, self._held = True, ""
            self._give(text[: min(places)])
            return
        held = max((_overlap(text, word) for word in self.stop), default=0)
        self._held = text[len(text) - held :]
        self._give(text[: len(text) - held])

    def _give(self, piece: str) -> None:
        if not piece:
            return
        self.parts.append(piece)
        self._hand(self.request.on_text, piece)
        if self.watched and self.request.closed is not None and self.request.closed(piece):
            self.closed_early = True

    def _hand(self, receiver: Callable[[str], None] | None, piece: str) -> None:
        self.handed_out = True
        if receiver is not None:
            receiver(piece)


def _overlap(text: str, word: str) -> int:
    """How many characters at the end of text begin word."""
    return next((size for size in range(min(len(word) - 1, len(text)), 0, -1) if text.endswith(word[:size])), 0)


def _as_decision(name: str, arguments: str) -> str:
    head = f'{{"action": {json.dumps(name, ensure_ascii=False)}, "action_input": '
    try:
        json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return head + arguments
    return head + (arguments or "{}") + "}"
