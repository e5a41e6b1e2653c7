"""Has the decision's object closed? Asked by the streaming endpoints, piece by piece, so that they can end the call.

Ending it drops the rest of the reply, so the answer is yes only where the rest could not change what the parser says, other than
by contradicting it: after an object that holds a whole decision, that is no item of a list, that no prose stands before, and that
is not continued on its line. In front of prose the opening tag of a reasoning block may be missing, and only a closing tag shows
that the reasoning is over. An object that goes on after its last brace may stand in a text whose quotes were not escaped.
"""

import re
from collections.abc import Callable

from react_agent.lenient_json import Unreadable, read_object, strict_object
from react_agent.lenient_json_decision import is_whole, may_decide
from react_agent.lenient_json_keys import strong_role
from react_agent.segments import CHANNEL_END, CLOSING, OPENING, pair_of

_LONGEST_TAG = 200
_LONGEST_WORD = 40
# What may stand before the object: blanks, fences, a server's tokens, tags, a label. A word counts when something else follows.
_PRELUDE = re.compile(
    r"[\s\u200b-\u200f\u2060\ufeff\x00]++|(?:`{2,20}+|~{3})\w{0,15}+(?=\W)|<\|(?!channel\|)\w{1,40}\|>"
    r"|<\|channel\|>final[^<{\n]{0,100}<\|message\|>|</?(?:s|tool_call|toolcall|answer|output|response|json|reply|final)>"
    r"|\[/?(?:INST|TOOL_CALLS|OUT)\]|\$JSON_BLOB(?=\W)|\(|(?P<word>(?:AI|Assistant|JSON|Action|Response|Output|Next step) ?:"
    r"|(?:assistant|model|json|return)(?=\W))",
    re.IGNORECASE,
)
_ANALYSIS = re.compile(r"<\|channel\|>analysis[^<{\n]{0,100}<\|message\|>", re.IGNORECASE)
_ANALYSIS_END = re.compile(f"({CHANNEL_END.pattern})", re.IGNORECASE)
_BRACE_OR_QUOTE = re.compile(r'["{}]')
_BLANKS = re.compile(r"[\s\u200b\ufeff]*+")
_ENOUGH_BLANKS = 16  # after them, nothing more is expected
_QUOTE_OR_SLASH = re.compile(r'["\\]')
_NO_OBJECT_AFTER = re.compile(r"(?:\[|(?:input|arguments?|输入|参数)[*_ \t]*[:：][*_ \t]*)\s*\Z", re.IGNORECASE)


class DecisionWatcher:
    """Fed a reply's text in pieces, it says when the decision's object has closed. How the text is cut makes no difference."""

    __slots__ = ("_depth", "_escaped", "_in_string", "_object", "_pair", "_pending", "_reasoned", "_step", "_worded", "closed")

    def __init__(self) -> None:
        self.closed = False
        self._pending = ""  # text that is not used up yet
        self._step: Callable[[], bool] | None = self._prelude  # uses up some of it, or says that it needs more; None: read to the end
        self._reasoned = False  # a reasoning block has been closed
        self._worded = False  # a word stands on the object's line
        self._pair = CLOSING  # the tags of the block that is open
        self._object: list[str] = []
        self._depth = 0
        self._in_string = False
        self._escaped = False

    def feed(self, piece: str) -> bool:
        """Take the next piece; True once the decision's object has closed and nothing more is needed."""
        if self._step is not None and not self.closed:
            self._pending += piece
            while self._step is not None and self._step():
                pass
        return self.closed

    def _prelude(self) -> bool:
        """Before an object: pass over what is neither prose nor reasoning."""
        text = self._pending
        if match := _PRELUDE.match(text):
            self._pending = text[match.end() :]
            self._worded = bool(match["word"]) or (self._worded and "\n" not in match[0])
            return True
        if match := CLOSING.match(text):
            self._pending, self._reasoned, self._worded = text[match.end() :], True, False
            return True
        if match := OPENING.match(text) or _ANALYSIS.match(text):
            self._pending = text[match.end() :]
            self._pair = _ANALYSIS_END if match.re is _ANALYSIS else pair_of(match[0])
            self._depth, self._step = 1, self._reasoning
            return True
        if text.startswith("{"):
            self._object, self._depth, self._step = [], 0, self._inside
            return True
        longest = _LONGEST_TAG if text.startswith("<") else _LONGEST_WORD
        if len(text) <= longest and "\n" not in text and "{" not in text:
            return False
        self._step = None if text.startswith(("[", '"', "“", "｛")) else self._prose
        return self._step is not None

    def _reasoning(self) -> bool:
        """Inside a reasoning block: wait for its closing tag."""
        text, at = self._pending, 0
        for match in self._pair.finditer(text):
            self._depth += -1 if match[1] else 1
            at = match.end()
            if not self._depth:
                self._pending = text[match.start() if self._pair is _ANALYSIS_END else at :]
                self._reasoned, self._step = True, self._prelude
                return True
        self._pending = _begun_tag(text, at)
        return False

    def _prose(self) -> bool:
        """In prose: after reasoning an object may begin on the next line, else only a closing tag makes it begin anew."""
        text = self._pending
        closing = CLOSING.search(text)
        line_end = text.find("\n", 0, closing.start() if closing else len(text)) if self._reasoned else -1
        if line_end >= 0:
            self._pending = text[line_end + 1 :]
            self._step = None if _NO_OBJECT_AFTER.search(text[max(0, line_end - 100) : line_end]) else self._prelude
        elif closing:
            self._pending, self._reasoned, self._step = text[closing.end() :], True, self._prelude
        else:
            self._pending = text[-_LONGEST_TAG:] if self._reasoned else _begun_tag(text, 0)
            return False
        return self._step is not None

    def _inside(self) -> bool:
        """Inside an object: find the brace that closes it, with strings respected."""
        text, pos = self._pending, 0
        while pos < len(text):
            if self._in_string:
                pos = self._string(text, pos)
                continue
            match = _BRACE_OR_QUOTE.search(text, pos)
            if not match:
                break
            pos = match.end()
            if match[0] == '"':
                self._in_string = True
                continue
            self._depth += 1 if match[0] == "{" else -1
            if not self._depth:
                self._object.append(text[:pos])
                self._pending = text[pos:]
                return self._judge("".join(self._object))
        self._object.append(text)
        self._pending = ""
        return False

    def _string(self, text: str, pos: int) -> int:
        """Where a string goes on or ends: past its closing quote, or the end of text."""
        if self._escaped:
            self._escaped = False
            pos += 1
        while match := _QUOTE_OR_SLASH.search(text, pos):
            pos = match.end()
            if match[0] == '"':
                self._in_string = False
                return pos
            if pos == len(text):
                self._escaped = True
                return pos
            pos += 1
        return len(text)

    def _judge(self, text: str) -> bool:
        """An object has closed: is it the decision, data, or something that only the parser can tell with the whole text?"""
        reading = strict_object(text, 0)
        try:
            reading = reading or read_object(text, 0, lambda _: ())
        except Unreadable:
            reading = None
        self._step = None
        if reading and reading.ending == "closed" and reading.end == len(text) and not reading.inferred:
            if is_whole(reading.value) and (not self._worded or any(strong_role(key) == "thought" for key in reading.value)):
                self._step = self._behind
            elif not may_decide(reading.value):
                self._step = self._prose
        return self._step is not None

    def _behind(self) -> bool:
        """Behind the decision: close at what cannot belong to it, a fence, a token or a new line; else the parser must see it all."""
        text = self._pending
        blanks = _BLANKS.match(text)
        end = blanks.end() if blanks else 0
        if end < len(text) or end >= _ENOUGH_BLANKS:
            next_char = text[end : end + 1]
            self.closed = end >= _ENOUGH_BLANKS or next_char in "`<" or ("\n" in text[:end] and next_char not in "\"',:}])")
            self._step = None
        return False


def _begun_tag(text: str, pos: int) -> str:
    """The end of a text, from pos on, if a tag may have begun there."""
    start = max(text.rfind(char, pos) for char in "<[◁")
    return text[start:] if start >= 0 and len(text) - start <= _LONGEST_TAG else ""
