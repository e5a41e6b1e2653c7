"""The small pieces that the tolerant reader is made of: blanks, quotes, brackets, numbers and words."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from react_agent.errors import ParseReason
from react_agent.lenient_json_keys import INVISIBLE

# Full-width forms stand for the ASCII ones, between strings only.
WIDE = {"｛": "{", "｝": "}", "［": "[", "］": "]", "：": ":", "，": ","}

# Which characters may end a string, by the one that began it. A curly quote that opens may also be misused to close.
CLOSERS = {
    '"': '"', "'": "'", "`": "`", "“": "”“\"", "”": "”\"", "„": "“”\"", "‘": "’‘'", "’": "’'", "‚": "‘’'",
    "«": "»", "＂": "＂\"", "「": "」", "『": "』",
}  # fmt: skip
QUOTE_REPAIR = {"'": "single_quotes", "`": "backtick_quotes"} | {quote: "smart_quotes" for quote in CLOSERS if quote not in "\"'`"}

_BLANK = f"\\s{INVISIBLE}"
_OPEN = "".join(CLOSERS)
_CLOSE = "".join(dict.fromkeys("".join(CLOSERS.values())))

# After blanks, one of these needs no look for comments and invisible characters.
ORDINARY = frozenset("\"'{}[],:-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
BLANK = re.compile(r"[ \t\r\n]*+")
# A line comment has its quotes in pairs: behind a string that ended too early, // may be its text.
NOISE = re.compile(
    rf"""(?:[{_BLANK}]++|(?://|\#)(?:[^\n"]|"[^\n"]*+")*+(?=\n|\Z)|/\*(?:[^*]|\*(?!/))*+\*/|<!--(?:[^-]|-(?!->))*+-->|\\[nrt])*+"""
)
# The same for a look-ahead; its limits keep a long comment from being read again for every quote before it.
_PEEK = re.compile(rf"""(?:[{_BLANK}]++|(?://|\#)(?:[^\n"]|"[^\n"]{{0,40}}+"){{0,80}}+(?=\n|\Z)|/\*(?:[^*]|\*(?!/)){{0,80}}+\*/)*+""")

# A key and its colon, in any quotes or in none: what may follow a comma in an object. shared: bare, but with a closing quote.
KEY_AHEAD = re.compile(
    rf'(?:"(?P<plain>(?:[^"\\\n]|\\.){{0,80}}+)"'
    rf"|\\?[{_OPEN}](?P<quoted>[^{_OPEN}{_CLOSE}\\{{}}\[\],:：\n]{{1,80}}+)\\?[{_CLOSE}]"
    rf"|(?P<bare>[^\W\d][\w.-]{{0,60}}+)(?P<shared>[{_CLOSE}]?+))[{_BLANK}]*+"
    rf"(?P<comment>(?:/\*(?:[^*]|\*(?!/)){{0,80}}+\*/|//[^\n]{{0,80}}+\n)[{_BLANK}]*+)?+[:：]"
)
PLAIN_KEY = re.compile(r'"([^"\\\x00-\x1f]*+)"[ \t\r\n]*+:')
HALF_KEY = re.compile(rf"[{_OPEN}]([^\W\d][\w -]{{0,60}}?)[{_BLANK}]*+[:：]")
# The common case in one step: a comma, a plain key, its colon, and a plain string if its end is not in doubt because the next key
# follows, or one closing brace (last) and then the next key, another brace or the end (after).
_NEXT_KEY = r""",[ \t\r\n]*+(?:"[^"\\\n]{0,80}+"|'[^'\\\n]{0,80}+')[ \t\r\n]*+:"""
QUICK_MEMBER = re.compile(
    r"""[ \t\r\n]*+(?P<comma>,?+)[ \t\r\n]*+(?P<quote>["'])(?P<key>[^"'\\\x00-\x1f]{1,80}+)(?P=quote)[ \t\r\n]*+:[ \t\r\n]*+"""
    r"""(?:(?P<string>"[^"\\\x00-\x1f]*+(?:\\["\\/bfnrt][^"\\\x00-\x1f]*+)*+"|'[^'\\\x00-\x1f]*+')"""
    rf"(?=[ \t\r\n]*+(?:{_NEXT_KEY}|(?P<last>\}}[ \t\r\n]*+(?P<after>{_NEXT_KEY}|\}}|\Z)?))))?+"
)
QUICK_ITEM = re.compile(r',[ \t\r\n]*+(?:"([^"\\\x00-\x1f]*+)"|(-?(?:0|[1-9]\d{0,17}+)))[ \t\r\n]*+(?=,)')

NUMBER = re.compile(r"-?(?:0|[1-9]\d*+)(\.\d++)?+([eE][+-]?+\d++)?+")
AFTER_VALUE = re.compile(rf"[{_BLANK},，\]］}}｝/#\"'<`]")
CUT_KEY = re.compile(rf"\\?[{_OPEN}]?[^{_OPEN}{_CLOSE}{{}}\[\],:：]*+\\?[{_CLOSE}]?[{_BLANK}]*+\Z")
NULL = re.compile(r"null[ \t\r\n]*+[,}\]]")
WORD = re.compile(r"[^\W\d][\w.-]*+(?:\(\))?+")
LITERALS = {"true": True, "false": False, "null": None, "none": None}
NOT_NUMBERS = frozenset({"nan", "infinity", "inf"})

_ENDS = ("```", "~~~", "<|", "</")
# Who speaks next in a dialogue that the model invents: only at the start of a line.
SPEAKER = (
    r"[ \t>*#_\[-]*+(?:\d{1,3}[.)][ \t]++)?+(?:observations?|(?:[^\W_]{1,20}[ _-]){0,2}(?:results?|outputs?)"
    r"|(?:tool|function|api)[ _]responses?|users?|humans?|assistant|system|ai|question|instructions?"
    r"|observación|beobachtung(?:en)?|наблюдени[ея]"
    r"|观察结果|观察|观测|(?:工具|函数|查询|搜索)?结果|工具返回|用户|助手|系统)"
    r"[ \t]*+\d*(?:[ \t]*+\([^()\n]{1,40}\)|[ \t]*+from[ \t]++[\w.-]{1,40})?+[ \t*_\]]*+(?:[:：]|\n|\Z)"
)
# What cannot be a member where one is expected: the next speaker, or a line of prose.
_NO_MEMBER = re.compile(
    r"[ \t>*#_\[]*+(?:observations?|users?|humans?|assistant|观察|用户|助手)[ \t]*+\d*[ \t*_\]]*+[:：]"
    r"|[^\W\d_]++(?:'\w++)?[ ,，。][^\n:：\"“{}]{2,}+(?:\n|\Z)",
    re.IGNORECASE,
)


class Unreadable(Exception):
    """Why a text could not be read, and where.

    cut: the text ended too early; what is there may be right. partial: the object's own members that had been read; keys: theirs,
    and the one whose value was being read.
    """

    partial: Mapping[str, Any] = MappingProxyType({})
    keys: tuple[str, ...] = ()

    def __init__(self, reason: ParseReason, offset: int, hint: str, *, cut: bool = False) -> None:
        self.reason: ParseReason = reason
        self.offset = offset
        self.hint = hint
        self.cut = cut

    def forget_frames(self) -> None:
        """For an error that is kept: its frames may hold the error itself, and then the text until the next garbage collection."""
        self.__traceback__ = self.__context__ = None


def name_of(key: re.Match[str]) -> str:
    """The name in a match of KEY_AHEAD."""
    plain: str | None = key["plain"]
    return (key["quoted"] or key["bare"]) if plain is None else plain


def char_at(text: str, pos: int) -> str:
    """The character at pos, "" past the end; a full-width bracket, comma or colon as its ASCII form."""
    char = text[pos : pos + 1]
    return WIDE.get(char, char)


def peek(text: str, pos: int) -> int:
    """Where the next token begins, as far as a look-ahead cares."""
    match = _PEEK.match(text, pos)
    return match.end() if match else pos


def text_ends(text: str, pos: int) -> bool:
    """Does something stand at pos that is no part of an object: a fence, a server's token, the next speaker, a line of prose?"""
    if text.startswith(_ENDS, pos):
        return True
    line = pos
    while line and text[line - 1] in " \t":
        line -= 1
    return line > 0 and text[line - 1] == "\n" and _NO_MEMBER.match(text, pos) is not None
