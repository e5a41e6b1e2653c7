"""How many tokens a text will be, roughly, where no tokenizer is at hand."""

import re
from collections.abc import Iterable

from react_agent.types import Message

CHARS_PER_TOKEN = 4.0
MESSAGE_OVERHEAD = 4  # role marker, separators
_ONE_TOKEN_EACH = re.compile(r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\U0001f000-\U0003ffff]")
_RUN_OF_SPACES = re.compile(r"\s{2,}")


def estimate_tokens(text: str) -> int:
    """About how many tokens text is: four characters each, one each for CJK and emoji; a run of white space is one character."""
    if text.isascii():
        return _rounded_up(len(_RUN_OF_SPACES.sub(" ", text)))
    wide = len(_ONE_TOKEN_EACH.findall(text))
    return wide + _rounded_up(len(_RUN_OF_SPACES.sub(" ", text)) - wide)


def estimate_prompt(messages: Iterable[Message]) -> int:
    """About how many tokens a prompt of these messages is."""
    return sum(estimate_tokens(message.content) + MESSAGE_OVERHEAD for message in messages)


def _rounded_up(chars: int) -> int:
    return int((chars + CHARS_PER_TOKEN - 1) // CHARS_PER_TOKEN)
