"""How many tokens a text will be, where no tokenizer is at hand, and the meter that corrects itself from what servers report."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from react_agent.types import Completion, Message, Usage

MESSAGE_OVERHEAD = 4  # role marker and separators
_CJK = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile("[A-Za-z]+")
_NO_DIGIT = bytes(code for code in range(128) if not chr(code).isdigit())
_NO_SIGN = bytes(code for code in range(128) if chr(code).isalnum() or chr(code).isspace())
_BEYOND = (
    (1.0, re.compile(r"[^\D0-9]")),                         # the digits of other scripts
    (0.8, re.compile(rf"(?!\d)[{_CJK}]")),
    (0.9, re.compile(rf"(?!\d)[^\s\x00-\x7f{_CJK}]")),  # every other script
)
_LONG_WORD, _WORD_PIECE, _SIGN = 7, 5.0, 0.6


def estimate_tokens(text: str) -> float:
    """About how many tokens a text is for a byte-pair vocabulary of today: a short word one, a long one a token per five letters,
    a digit one, a CJK character 0.8, a sign 0.6."""
    total = sum(1.0 if length <= _LONG_WORD else length / _WORD_PIECE for length in map(len, _WORD.findall(text)))
    ascii_part = text.encode("ascii", "ignore")
    total += len(ascii_part.translate(None, _NO_DIGIT)) + _SIGN * len(ascii_part.translate(None, _NO_SIGN))
    if len(ascii_part) < len(text):
        total += sum(weight * len(pattern.findall(text)) for weight, pattern in _BEYOND)
    return total


def estimate_prompt(messages: Iterable[Message]) -> int:
    """About how many tokens a prompt of these messages is."""
    return round(sum(estimate_tokens(message.content) + MESSAGE_OVERHEAD for message in messages))


@dataclass(slots=True)
class TokenMeter:
    """Tokens of a growing prompt: the server's count of the last request, plus an estimate of what came since.

    factor corrects the estimate; it follows the ratio of reported to estimated tokens.
    """

    factor: float = 1.0
    known_messages: int = 0
    known_tokens: int = 0
    _costs: list[float] = field(default_factory=list)
    _sum: float = 0.0
    _known_sum: float = 0.0

    def added(self, message: Message) -> None:
        cost = estimate_tokens(message.content) + MESSAGE_OVERHEAD
        self._costs.append(cost)
        self._sum += cost

    def removed(self, count: int) -> None:
        for _ in range(count):
            self._sum -= self._costs.pop()
        if len(self._costs) < self.known_messages:
            self.forget()

    def replaced(self, at: int, message: Message) -> None:
        cost = estimate_tokens(message.content) + MESSAGE_OVERHEAD
        change, self._costs[at] = cost - self._costs[at], cost
        self._sum += change
        if at < self.known_messages:  # the count of the prefix moves by the corrected estimate of the change
            self.known_tokens = max(0, self.known_tokens + round(change * self.factor))
            self._known_sum += change

    def forget(self) -> None:
        """The counted prefix has changed: fall back to the corrected estimate."""
        self.known_messages, self.known_tokens, self._known_sum = 0, 0, 0.0

    def reported(self, tokens: int) -> None:
        """The server counted the whole prompt as it is now."""
        if tokens <= 0 or self._sum <= 0:
            return
        self.factor = min(4.0, max(0.25, tokens / self._sum))
        self.known_messages, self.known_tokens, self._known_sum = len(self._costs), tokens, self._sum

    @property
    def exact(self) -> bool:
        """True while the whole prompt is as the server counted it."""
        return 0 < self.known_messages == len(self._costs)

    @property
    def tokens(self) -> int:
        return round(self.known_tokens + (self._sum - self._known_sum) * self.factor)

    def cost_of(self, text: str) -> int:
        """About how many tokens a text adds to a prompt, corrected like the rest of it."""
        return self.corrected(estimate_tokens(text))

    def corrected(self, estimate: float) -> int:
        return math.ceil(estimate * self.factor)

    def usage_of(self, completion: Completion, prompt: int) -> Usage:
        """What a call used: what the server does not tell, or tells as nothing, is estimated. prompt: its size as we know it."""
        told = completion.usage or Usage()
        read = told.input_tokens or prompt
        written = told.output_tokens or self.cost_of(completion.text + completion.reasoning)
        if (read, written) == (told.input_tokens, told.output_tokens):
            return told
        return replace(told, input_tokens=read, output_tokens=written, estimated=True)
