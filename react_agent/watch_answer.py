"""Hands out the final answer while it is being written, without the JSON around it."""

import json

_KEY = "final_answer"
_WHITE = " \t\r\n"


class AnswerStream:
    """Fed the pieces of a reply; feed() returns what they add to the text of final_answer.

    For the eye only: it follows well-formed JSON at the top level of the first object that begins, and returns nothing for a reply
    that is not so; the parser has the last word. Linear, whatever the pieces.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._string: list[str] | None = None  # the string at hand, undecoded
        self._key = ""
        self._expects_value = False
        self._in_answer = False
        self._escape = ""
        self._high = ""

    def feed(self, piece: str) -> str:
        return "".join(self._next(ch) for ch in piece)

    def _next(self, ch: str) -> str:
        if self._string is not None:
            return self._in_string(ch)
        if ch == '"':
            self._string = []
            self._in_answer = self._depth == 1 and self._expects_value and self._key == _KEY
        elif ch in "{[":
            self._depth += 1
            self._expects_value = False
        elif ch in "}]":
            self._depth -= 1
        elif ch == ":":
            self._expects_value = True
        elif ch not in _WHITE:
            self._expects_value = False
        return ""

    def _in_string(self, ch: str) -> str:
        assert self._string is not None
        if self._escape:
            return self._escaped(ch)
        if ch == "\\":
            self._escape = ch
            return ""
        if ch == '"':
            if not self._in_answer and self._depth == 1 and not self._expects_value:
                self._key = "".join(self._string)
            self._string, self._in_answer = None, False
            return ""
        return self._add(ch)

    def _escaped(self, ch: str) -> str:
        self._escape += ch
        if self._escape.startswith("\\u") and len(self._escape) < 6:
            return ""
        text, self._escape = _decoded(self._escape), ""
        return self._add(text)

    def _add(self, text: str) -> str:
        assert self._string is not None
        if not self._in_answer:
            if len(self._string) <= len(_KEY):  # only keys are looked at
                self._string.append(text)
            return ""
        text, self._high = self._high + text, ""
        if len(text) == 1 and "\ud800" <= text <= "\udbff":  # the first half of a pair: wait for the second
            self._high = text
            return ""
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoded(escape: str) -> str:
    try:
        text: str = json.loads(f'"{escape}"')
    except ValueError:
        return escape
    return text
