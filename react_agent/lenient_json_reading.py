"""What the readers of an object give, and what its end looks like."""

import re
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from react_agent.lenient_json_keys import strong_role

Ending = Literal["closed", "ended", "open", "cut"]
Guide = Callable[[object], Collection[str]]  # the name in "action", None while unknown -> the parameters that may follow

_NO_REPAIRS: Mapping[str, int] = MappingProxyType({})
REOPENED = re.compile(r"""\s*+[,，]?\s*+["'“]([^"'“”\\\n]{1,40})["'”]\s*+[:：]""")


class Reading(NamedTuple):
    """One object as the model wrote it.

    end: the offset after it. inferred: the end of a string had to be inferred. repairs: the first offset of each kind. ending:
    closed, the model wrote the last brace; ended, a fence, a token or the next speaker stands in its place; open, the text
    ended after a whole value; cut, it ended in the middle of something, which is left out.
    """

    value: dict[str, Any]
    start: int
    end: int
    ending: Ending = "closed"
    inferred: bool = False
    repairs: Mapping[str, int] = _NO_REPAIRS


def reopened(text: str, end: int) -> bool:
    """Does a decision's member follow where an object seems to have ended, so that the brace before it was one too many?"""
    follows = REOPENED.match(text, end)
    return follows is not None and strong_role(follows[1]) is not None
