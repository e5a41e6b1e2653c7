"""What a string's body means: JSON's escapes, and those that models write although JSON has none."""

import re

from react_agent.lenient_json_tokens import Unreadable

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PLAIN = {'"': '"', "\\": "\\", "/": "/"}
_QUOTES = {"'": "'", "`": "`"}  # not JSON, but they can only mean the quote
_SURROGATE = re.compile("[\ud800-\udfff]")
_WINDOWS_PATH = re.compile(r'[A-Za-z]:[^:*?"<>|\r\n]*')


def decode(body: str, at: int, repairs: dict[str, int], *, strict: bool) -> str:
    """The text that a string's body stands for; at is the body's offset, for repairs and errors.

    A body with an escape that JSON does not have (`\\d`, `C:\\Users`) was written without escaping: its backslashes are kept,
    also before n, t and u. Where that would be a guess and strict holds, Unreadable is raised instead.
    """
    escapes = set(_ESCAPE.findall(body))
    bad = {escape for escape in escapes if not _known(escape)}
    if bad:
        return _unescaped(body, at, repairs, escapes, bad, strict)
    if not escapes.isdisjoint(_QUOTES):
        first = next(match for match in _ESCAPE.finditer(body) if match[1] in _QUOTES)
        repairs.setdefault("bad_escape", at + first.start())
    return joined(_ESCAPE.sub(_decoded, body), at)


def joined(text: str, at: int) -> str:
    """text with its surrogate pairs made whole; half a pair is no character."""
    if not _SURROGATE.search(text):
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise Unreadable("bad_syntax", at, "half a surrogate pair is no character; write the character itself") from None


def _known(escape: str) -> bool:
    return len(escape) == 5 or escape in _PLAIN or escape in _LETTERS or escape in _QUOTES


def _decoded(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    return _PLAIN.get(escape) or _LETTERS.get(escape) or _QUOTES[escape]


def _unescaped(body: str, at: int, repairs: dict[str, int], escapes: set[str], bad: set[str], strict: bool) -> str:
    first = next(match for match in _ESCAPE.finditer(body) if match[1] in bad)
    offset = at + first.start()
    unsure = [escape for escape in escapes if escape[0] in "nrtu" and escape not in bad]
    if strict and unsure and not _WINDOWS_PATH.fullmatch(body):
        hint = f"\\{first[1]} is not a JSON escape, and beside it \\{min(unsure)} could mean two things; write every backslash twice"
        raise Unreadable("bad_syntax", offset, hint)
    repairs.setdefault("bad_escape", offset)
    return joined(_ESCAPE.sub(_kept, body), at)


def _kept(match: re.Match[str]) -> str:
    return _PLAIN.get(match[1]) or _QUOTES.get(match[1]) or match[0]
