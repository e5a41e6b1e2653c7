"""The alarm for a server that drops part of the prompt and says nothing: the counts that it reports give it away."""

import re
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from react_agent.tokens import MESSAGE_OVERHEAD, estimate_tokens
from react_agent.types import Message

LEAST_ESTIMATE = 500      # below, an estimate says too little
MOST_CONVERSATIONS = 64
MOST_MESSAGES = 2048
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Seen:
    messages: int
    estimate: int
    reported: int


class PromptWatch:
    """Remembers what each conversation's last prompt was counted as. One per endpoint, shared by its threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[Message, ...], _Seen] = OrderedDict()
        self._costs: dict[Message, float] = {}

    def estimate(self, messages: Sequence[Message]) -> int:
        """About how many tokens a prompt is; a message that was seen before is not measured again."""
        if len(self._costs) > MOST_MESSAGES:
            self._costs = {}
        costs = self._costs
        for message in messages:
            if message not in costs:
                costs[message] = estimate_tokens(message.content) + MESSAGE_OVERHEAD
        return round(sum(costs[message] for message in messages))

    def check(self, messages: Sequence[Message], reported: int) -> str | None:
        """A note when reported, the server's own count of this prompt, says that part of it was dropped."""
        now = _Seen(len(messages), self.estimate(messages), reported)
        with self._lock:
            key = tuple(messages[:2])
            before = self._seen.get(key)
            self._seen[key] = now
            self._seen.move_to_end(key)
            if len(self._seen) > MOST_CONVERSATIONS:
                self._seen.popitem(last=False)
        return _alarm(before, now, messages)


def _alarm(before: _Seen | None, now: _Seen, messages: Sequence[Message]) -> str | None:
    if _far_below(now, messages):
        return f"silent_truncation_suspected: the server counted {now.reported} prompt tokens where about {now.estimate} were sent"
    grew = before is not None and now.messages > before.messages and now.estimate > before.estimate
    if before is not None and grew and now.reported < before.reported:
        return (
            f"silent_truncation_suspected: the prompt grew from about {before.estimate} to {now.estimate} tokens, but the server's count"
            f" fell from {before.reported} to {now.reported}"
        )
    return None


def _far_below(now: _Seen, messages: Sequence[Message]) -> bool:
    """Far below the estimate: by half where the number of words agrees, else (long runs of one character) by four fifths."""
    if now.estimate < LEAST_ESTIMATE or now.reported * 2 >= now.estimate:
        return False
    words = sum(len(_WORD.findall(message.content)) for message in messages)
    return now.reported < 0.8 * words or now.reported * 5 < now.estimate
