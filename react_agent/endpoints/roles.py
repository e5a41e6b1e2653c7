"""Messages that every chat template accepts: one system message at most, then user and assistant strictly in turn."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from react_agent.types import Message

EMPTY = "(empty)"  # templates and APIs refuse a message without text


def strict_roles(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same conversation for the strictest template: system text folded into the first user message, neighbours of one role
    merged with a blank line, beginning and ending with a user message, no message empty."""
    system = [message.content for message in messages if message.role == "system"]
    turns = [Message(role, _joined(group)) for role, group in groupby(_turns(messages), key=lambda message: message.role)]
    if not turns or turns[0].role != "user":
        turns.insert(0, Message("user", ""))
    turns[0] = Message("user", "\n\n".join(part for part in (*system, turns[0].content) if part.strip()))
    if turns[-1].role != "user":
        turns.append(Message("user", "Continue."))
    return tuple(message if message.content.strip() else Message(message.role, EMPTY) for message in turns)


def _turns(messages: Sequence[Message]) -> list[Message]:
    return [message for message in messages if message.role != "system"]


def _joined(group: Iterable[Message]) -> str:
    return "\n\n".join(message.content for message in group if message.content.strip())
