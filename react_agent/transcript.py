"""What the model sees: the opening, then question, decisions and observations, kept inside the window."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from react_agent.tokens import TokenMeter
from react_agent.types import Message

CUT_REPLY = 500  # characters of an unreadable reply that stay before its re-prompt
KEEP = 2         # the last exchanges are never compacted
SHORT = 120      # characters that stay of a long text in an old reply, where observations alone make no room


@dataclass(slots=True)
class Exchange:
    """A decision and what the model was told about it. at: the index of its first message. tool: empty for an answer sent back."""

    at: int
    tool: str
    compacted: bool = False


class Transcript:
    """The messages of a dialogue. Only ever appended to, but for these cases: a failed exchange leaves once a good reply has come,
    a decision that is sent back leaves a line under the last message, and compaction shortens what is old; `stable`
    tells how many leading messages are as they were at the last request.

    history: the dialogue before the question. note: what takes the place of a tool's observation.
    """

    def __init__(self, opening: Sequence[Message], note: Callable[[str, str], str], history: Sequence[Message] = ()) -> None:
        self.messages: list[Message] = []
        self.meter = TokenMeter()
        self.stable = 0
        self._note = note
        self._exchanges: list[Exchange] = []
        self._lines: list[tuple[int, str]] = []  # what was sent back, and under which message it stands
        self._failed = 0
        self._extend([*opening, *history])
        self._history = range(len(opening), len(self.messages))

    @property
    def tokens(self) -> int:
        return self.meter.tokens

    def _extend(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.messages.append(message)
            self.meter.added(message)

    def _truncate(self, count: int) -> None:
        if count:
            del self.messages[-count:]
            self.meter.removed(count)
            self.stable = min(self.stable, len(self.messages))

    def sent(self) -> int:
        """Mark the messages as sent; returns how many leading ones the previous request had already."""
        stable, self.stable = self.stable, len(self.messages)
        return stable

    def ask(self, question: str) -> None:
        self._extend([Message("user", question)])

    def good(self, decision: str, told: str, tool: str = "") -> None:
        """A readable reply: its canonical form, and what the model is told. Failed exchanges before it leave."""
        self.drop_failed()
        self._exchanges.append(Exchange(len(self.messages), tool))
        self._extend([Message("assistant", decision), Message("user", told)])

    def failed(self, reply: str, reprompt: str) -> None:
        """An unreadable reply, cut, and the re-prompt; only the last failed exchange is kept."""
        self.drop_failed()
        shown = reply.strip()
        shown = shown if len(shown) <= CUT_REPLY else shown[:CUT_REPLY] + " ..."
        self._extend([Message("assistant", shown or "(nothing)"), Message("user", reprompt)])
        self._failed = 2

    def sent_back(self, objection: str) -> None:
        """A decision that is not accepted: it leaves, lest it is repeated, and the objection stands under the last message."""
        self.drop_failed()
        at = len(self.messages) - 1
        self._lines.append((at, f"\n\n{objection}"))
        self._put(at, self.with_notice(objection)[-1])

    def shows(self, line: str) -> bool:
        """Whether a line stands in a message of the user's, where it was sent back."""
        return any(message.role == "user" and line in message.content for message in self.messages)

    def drop_failed(self) -> None:
        self._truncate(self._failed)
        self._failed = 0

    def answered(self, decision: str) -> None:
        """The final answer, kept for a dialogue that goes on."""
        self.drop_failed()
        self._extend([Message("assistant", decision)])

    def with_notice(self, notice: str) -> list[Message]:
        """The messages with a notice under the last one, which stays as it is in the transcript."""
        last = self.messages[-1]
        return [*self.messages[:-1], Message(last.role, f"{last.content}\n\n{notice}")]

    def old(self, keep_last: int = KEEP) -> list[tuple[str, str]]:
        """What compaction may replace, oldest first: the tool and the text of each observation that is still whole."""
        return [(exchange.tool, self.messages[exchange.at + 1].content) for exchange in self._replaceable(keep_last)]

    def compact(self, target: int, keep_last: int = KEEP, summary: str = "") -> int:
        """Shorten what is old until about target tokens are left, oldest first; returns how many messages that took.

        Observations are replaced by one-line notes; with a summary, it takes the place of the oldest, and all others that may be
        replaced go. Where that is not enough, what was sent back goes but for the last keep_last lines, and the long texts in the
        dialogue before the question and in old replies are cut. The opening, the question and the last keep_last exchanges stay.
        """
        done = 0
        for exchange in self._replaceable(keep_last):
            if self.tokens <= target and not summary:
                break
            content = self.messages[exchange.at + 1].content
            exchange.compacted = True
            done += self._replace(exchange.at + 1, summary if summary and not done else self._note(exchange.tool, content))
        while len(self._lines) > keep_last and self.tokens > target:
            at, line = self._lines.pop(0)
            done += self._replace(at, "".join(self.messages[at].content.rsplit(line, 1)))
        for at in [*self._history, *(exchange.at for exchange in self._older(keep_last))]:
            if self.tokens <= target:
                break
            done += self._replace(at, shortened(self.messages[at].content))
        return done

    def _older(self, keep_last: int) -> list[Exchange]:
        return self._exchanges[: max(0, len(self._exchanges) - keep_last)]

    def _replaceable(self, keep_last: int) -> list[Exchange]:
        return [exchange for exchange in self._older(keep_last) if exchange.tool and not exchange.compacted]

    def _replace(self, at: int, text: str) -> int:
        """1 when that makes the message shorter, else 0, and it stays."""
        old = self.messages[at]
        if len(text) >= len(old.content):
            return 0
        self._put(at, Message(old.role, text))
        return 1

    def _put(self, at: int, message: Message) -> None:
        self.messages[at] = message
        self.meter.replaced(at, message)
        self.stable = min(self.stable, at)


def shortened(text: str) -> str:
    """A message with the beginnings of its long texts; a decision stays one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return json.dumps(_cut(value), ensure_ascii=False) if isinstance(value, dict) else str(_cut(text))


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= SHORT else f"{value[:SHORT]} ..."
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    return [_cut(item) for item in value] if isinstance(value, list) else value
