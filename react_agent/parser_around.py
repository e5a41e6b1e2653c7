"""What stands around a reply's objects: other speakers' turns, words, and what shows that an object goes on behind its last brace."""

import re
from collections.abc import Iterable

from react_agent.lenient_json import SPEAKER

_TURN = (
    r"(?<=<)(?:\|(?:im_start|start|start_header_id|user|system|tool|observation)\|>|start_of_turn>|｜user｜>"
    r"|(?:(?:tool|function)_)?(?:observation|response|results?)>)"
    r"|(?<=\[)TOOL_RESULTS\]"
)
_NEXT_SPEAKER = re.compile(rf"[\n<\[](?:(?<=\n){SPEAKER}|{_TURN})", re.IGNORECASE)
KEY = re.compile(r"""["'“]?(?:thought|action|action_input|final_answer)["'”]\s*[:：]""")
LAST_QUOTE = re.compile(r"[\"”]\s*[}\]]")  # as a text ends that is the last one in an object or a list
NOT_WORDS = re.compile(r"```\w*|~~~\w*|<[^<>\n]{0,80}>|\[/?[A-Z_]+\]")
_SET = re.compile(r'[{\[]\s*+"[^"{}\[\]\n]*+"(?:\s*+,\s*+"[^"{}\[\]\n]*+")*+\s*+[}\]]')
_WORD = re.compile(r"\w")
QUOTES = ('"', "'")
REST_OF_NOTHING = " \t\r\n`~}])"
_REST_AND_QUOTES = REST_OF_NOTHING + "\"'"
_ENDS_OF_TEXT = ('"', "'", "“", "”", "’", "}", "]")  # how a last value ends that may be a text, or hold one


def next_speaker(text: str, start: int, end: int) -> int:
    """Where in text[start:end] another speaker's turn begins, at the start of it or of a line; -1 when none does."""
    match = _NEXT_SPEAKER.search(f"\n{text[start:end]}")  # one character longer, and a label begins one after its line's end
    return start + match.start() - (match[0][0] != "\n") if match else -1


def says_something(text: str) -> bool:
    """Has a text words, besides fences and tags?"""
    return _WORD.search(NOT_WORDS.sub("", text)) is not None


def only_quotes_follow(text: str, start: int, end: int) -> bool:
    """Is nothing but quotes, fences and closers behind the object at text[start:end], which cannot belong to its last value?"""
    return not text[end:].strip(_REST_AND_QUOTES) and text[start : end - 1].rstrip()[-1:] not in _ENDS_OF_TEXT


def only_sets_hold_quotes(text: str, begin: int, end: int) -> bool:
    """Are the quotes in a part of a line that begins as words, such as `uses {"a", "b"}`, only those of sets and lists of texts?"""
    part = text[begin:end]
    return not part.lstrip().startswith(",") and not LAST_QUOTE.search(_SET.sub("", part))


def find_outside(pattern: re.Pattern[str], text: str, begin: int, end: int, parts: Iterable[tuple[int, int]]) -> int:
    """Where a pattern is found in text[begin:end] outside some parts of the text; -1 when it is not."""
    if not pattern.search(text, begin, end):
        return -1
    for start, stop in sorted([*parts, (end, end)]):
        if start >= begin:
            if match := pattern.search(text, begin, min(start, end)):
                return match.start()
            begin = stop
    return -1
