"""The keys of members, in quotes of any kind, in half of them or in none."""

import re

from react_agent.lenient_json_escapes import decode
from react_agent.lenient_json_keys import role, visible
from react_agent.lenient_json_tokens import CLOSERS, CUT_KEY, HALF_KEY, KEY_AHEAD, PLAIN_KEY, QUOTE_REPAIR, WIDE, Unreadable, name_of

_ESCAPED_KEY = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*+)"[ \t\r\n]*+[:：]')
_CONTROL = re.compile(r"[\x00-\x1f]")
_MARKDOWN = re.compile(r"\\[\\_]")  # an underscore that is escaped for Markdown; an escaped backslash before one is JSON's own


def read_key(text: str, pos: int, repairs: dict[str, int]) -> tuple[str, int]:
    """The key at pos and the offset after its colon; an empty one and the end of the text when it was cut. Raises Unreadable."""
    if match := PLAIN_KEY.match(text, pos):
        return match[1], match.end()
    if match := _ESCAPED_KEY.match(text, pos):
        body = _MARKDOWN.sub(_unmarked, match[1])
        if body != match[1]:
            repairs.setdefault("bad_escape", pos)
        _note_colon(match, text, repairs)
        return decode(body, pos + 1, repairs, strict=True), match.end()
    if match := KEY_AHEAD.match(text, pos):
        _note(match, text, repairs)
        return name_of(match), match.end()
    if (match := HALF_KEY.match(text, pos)) and role(match[1]):
        repairs.setdefault("half_quoted_key", pos)
        return match[1], match.end()
    if CUT_KEY.match(text, pos):
        return "", len(text)
    raise _no_key(text, pos)


def _unmarked(escape: re.Match[str]) -> str:
    return "_" if escape[0] == "\\_" else escape[0]


def _note(match: re.Match[str], text: str, repairs: dict[str, int]) -> None:
    pos = match.start()
    if match["bare"]:
        repairs.setdefault("half_quoted_key" if match["shared"] else "unquoted_key", pos)
    elif text[pos] == "\\":
        repairs.setdefault("over_escaped", pos)
    elif text[pos] in QUOTE_REPAIR:
        repairs.setdefault(QUOTE_REPAIR[text[pos]], pos)
    if match["comment"]:
        repairs.setdefault("comment", match.start("comment"))
    if _CONTROL.search(name_of(match)):
        repairs.setdefault("raw_control", pos)
    elif visible(match[0]) != match[0]:
        repairs.setdefault("invisible", pos)
    _note_colon(match, text, repairs)


def _note_colon(match: re.Match[str], text: str, repairs: dict[str, int]) -> None:
    if text[match.end() - 1] in WIDE:
        repairs.setdefault("full_width", match.end() - 1)


def _no_key(text: str, pos: int) -> Unreadable:
    char = text[pos]
    if text.startswith(("...", "…", "<"), pos):
        return Unreadable("template_echo", pos, "a placeholder stands where a key belongs; fill in the values themselves")
    if char.isdigit() or char == "-":
        return Unreadable("bad_number", pos, "a number stands where a key belongs; write numbers without thousands separators")
    if char in CLOSERS:
        return Unreadable("bad_syntax", pos, 'a key or its colon is missing here; write "key": value')
    return Unreadable("bad_syntax", pos, f"{char!r} stands where a key belongs")
