"""The words of an expression: numbers, names and operators. What is none of them is refused by name."""

import keyword
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, NamedTuple

from react_agent.errors import ToolError
from react_agent.tools.calculator_functions import CONSTANTS, find_function
from react_agent.tools.calculator_input import excerpt, name_of
from react_agent.tools.calculator_values import Number, bounded, overflow

MAX_BRACKETS = 60
ROOTS: Mapping[str, str] = {"√": "sqrt", "∛": "cbrt"}
Kind = Literal["number", "name", "superscript", "operator", "end"]


class Token(NamedTuple):
    """start, end: offsets in the expression, so that spacing can be seen. value: of a number and of a superscript."""

    kind: Kind
    text: str
    start: int
    end: int
    value: Number = 0


_WHOLE = "[0-9]+(?:_[0-9]+)*"
_NUMBER = rf"(?:{_WHOLE}(?:\.(?:{_WHOLE})?)?|\.{_WHOLE})(?:[eE][-+]?[0-9]+)?"
_GROUPED = r"(?:[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})(?![0-9])(?:\.[0-9]*)?"  # 1,234,567 and 12,34,567
_PHRASES = r"multiplied\s+by|divided\s+by|to\s+the\s+power\s+of|square\s+root\s+of|cube\s+root\s+of|per\s*cent"
_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹"


def _pattern(number: str) -> re.Pattern[str]:
    return re.compile(
        rf"""\s*(?:
        (?P<based>(?<![0-9][xX])0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB][01]+(?:_[01]+)*|0[oO][0-7]+(?:_[0-7]+)*)
        |(?P<number>{number})
        |(?P<superscript>[⁺⁻]?[{_RAISED}]+)
        |(?P<times>(?<=[0-9)!%{_RAISED}])[xX](?=[0-9(.√∛])|(?<=[0-9)]\ )[xX](?=[0-9(]))
        |(?P<name>(?i:{_PHRASES})\b|[^\W\d][^\W{_RAISED}]*)
        |(?P<operator>\*\*|//|<<|>>|[<>=!]=|:=|->|!!|[-+*/%^()\[\],<>=!√∛])
        |(?P<other>.))""",
        re.VERBOSE | re.DOTALL,
    )


_TOKEN = _pattern(f"{_GROUPED}|{_NUMBER}")
_ARGUMENT_TOKEN = _pattern(_NUMBER)  # between the brackets of a call a comma separates
_SUPERSCRIPTS = str.maketrans(_RAISED + "⁺⁻", "0123456789+-")
_MATH = re.compile(r"(?<![\w.)\]])(?:math|np|numpy|statistics)\.(?=[A-Za-z])", re.IGNORECASE)

_EXPONENT = re.compile(r"\s*([-+])\s*([0-9]{1,5})(?![\w.])")

_WORDS: Mapping[str, str] = {
    "plus": "+", "minus": "-", "times": "*", "multiplied by": "*", "divided by": "/", "mod": "mod", "of": "of", "percent": "percent",
    "per cent": "percent", "to the power of": "**", "square root of": "√", "cube root of": "∛",
}  # fmt: skip
_POWERS = {"squared": 2, "cubed": 3}
_REFUSED: Mapping[str, tuple[str, str]] = {
    "'": ("text in quotes", "write numbers and operators without quotes"),
    '"': ("text in quotes", "write numbers and operators without quotes"),
    ".": ("a point that belongs to no number", "there are no attributes or methods: write sqrt(16), not x.sqrt()"),
    ";": ("';'", "one expression a call"),
    "{": ("'{'", "use round brackets"),
    "}": ("'}'", "use round brackets"),
    ":": ("':'", "write a / b for a ratio, and minutes as 6*60 + 25 for a time"),
    "|": ("'|'", "write abs(x) for the absolute value; there are no bit operations"),
    "&": ("'&'", "there are no bit operations"),
    "~": ("'~'", "there are no bit operations"),
    "<<": ("'<<'", "there are no bit operations: write x * 2**n"),
    ">>": ("'>>'", "there are no bit operations: write x // 2**n"),
    "@": ("'@'", "use * for products"),
    ":=": ("an assignment", "there are no variables: write only the right side"),
    "!!": ("'!!'", "write (3!)! for the factorial of a factorial; there is no double factorial"),
    "->": ("'->'", "write one expression"),
    "\\": ("a backslash", "no LaTeX: write a/b, sqrt(x), x**2"),
    "°": ("'°'", "write angles as radians(30), and temperatures without their unit"),
    "#": ("'#'", "write the expression without a comment"),
}


def tokenize(text: str) -> list[Token]:
    """The tokens of a cleaned expression, an end token last. Raises ToolError unsupported, syntax, ambiguous, overflow."""
    text = _MATH.sub(lambda match: " " * len(match[0]), text)
    tokens: list[Token] = []
    calls: list[bool] = []  # for each open bracket, whether commas in it separate arguments
    position = 0
    while match := (_ARGUMENT_TOKEN if True in calls else _TOKEN).match(text, position):
        kind = match.lastgroup or "other"
        start, position = match.span(kind)
        token = _token(kind, text[start:position], start, tokens, text)
        _follow_brackets(token, tokens, calls)
        tokens.append(token)
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


def matching_brackets(tokens: list[Token]) -> dict[int, int]:
    """For the index of each opening bracket that of the closing one. Raises ToolError syntax, too_deep."""
    closing: dict[int, int] = {}
    waiting: list[int] = []
    for index, token in enumerate(tokens):
        if token.text in ("(", "["):
            waiting.append(index)
            if len(waiting) > MAX_BRACKETS:
                raise ToolError("too_deep", f"more than {MAX_BRACKETS} brackets are open", "calculate the inner part first, by itself")
        elif token.text in (")", "]"):
            if not waiting or tokens[waiting[-1]].text != ("(" if token.text == ")" else "["):
                raise ToolError("syntax", f"{token.text!r} at position {token.start + 1} closes nothing", "remove it, or open its bracket")
            closing[waiting.pop()] = index
    if waiting:
        opened = tokens[waiting[-1]]
        raise ToolError("syntax", f"{opened.text!r} at position {opened.start + 1} is never closed", "add the bracket that closes it")
    return closing


def _follow_brackets(token: Token, before: list[Token], calls: list[bool]) -> None:
    if token.text == "(":
        calls.append(bool(before) and before[-1].kind == "name" and before[-1].text.lower() not in CONSTANTS)
    elif token.text == "[":
        calls.append(True)
    elif token.text in (")", "]") and calls:
        calls.pop()


def _token(kind: str, word: str, start: int, before: list[Token], text: str) -> Token:
    end = start + len(word)
    if kind in ("number", "based"):
        return Token("number", word, start, end, _number(word, kind))
    if kind == "superscript":
        return Token("superscript", word, start, end, int(word.translate(_SUPERSCRIPTS)))
    if kind == "times":
        return Token("operator", "*", start, end)
    if kind == "name":
        return _word(word, start, before, text)
    if kind == "other" or word in _REFUSED:
        raise _refusal(word, start)
    if word == "!=" and before and before[-1].end == start:
        hint = f"write {excerpt(before[-1].text)}! for the factorial, or put spaces around != to compare"
        raise ToolError("ambiguous", f"'!=' at position {start + 1} has two readings", hint)
    return Token("operator", "**" if word == "^" else word, start, end)


def _word(word: str, start: int, before: list[Token], text: str) -> Token:
    end, lower = start + len(word), " ".join(word.lower().split())
    if keyword.iskeyword(word):
        raise ToolError("unsupported", f"{word!r} is not part of arithmetic", "write one expression of numbers, operators and functions")
    if lower in _POWERS:
        return Token("superscript", word, start, end, _POWERS[lower])
    if lower in _WORDS and (find_function(lower) is None or ends_operand(before)):
        return Token("operator", _WORDS[lower], start, end)
    if lower == "x" and _is_times(start, end, before, text):
        return Token("operator", "*", start, end)
    if lower == "e" and before and before[-1].end == start and before[-1].kind == "number":
        _refuse_loose_exponent(before[-1], text[end:])
    return Token("name", word, start, end)


def ends_operand(before: list[Token]) -> bool:
    """Whether an operand ends where these tokens end, so that an operator may follow."""
    return bool(before) and (before[-1].kind in ("number", "name", "superscript") or before[-1].text in (")", "!", "%", "percent"))


def _is_times(start: int, end: int, before: list[Token], text: str) -> bool:
    """`3 x 4`: an x with space on both sides, between operands. `2 x + 3` has a variable, and is refused as such."""
    if not ends_operand(before) or before[-1].end == start:
        return False
    after = text[end:]
    return after[:1].isspace() and re.match(r"\s+[\w(.√∛]", after) is not None


def _refuse_loose_exponent(number: Token, after: str) -> None:
    """`2e + 3` is 2 times e and 3 more to one reader, and 2000 to another."""
    exponent = _EXPONENT.match(after)
    if exponent:
        sign, digits = exponent.groups()
        whole = excerpt(number.text)
        hint = f"write {whole} * e {sign} {digits} with the number e, or {whole}e{sign}{digits} for {whole} * 10**{sign}{digits}"
        raise ToolError("ambiguous", f"{whole}e {sign} {digits} has two readings", hint)


def _number(word: str, kind: str) -> Number:
    digits = word.replace("_", "").replace(",", "")
    if kind == "based":
        return bounded(int(digits, 0))
    mantissa, _, exponent = digits.lower().partition("e")
    whole, point, part = mantissa.partition(".")
    if not point and not exponent:
        return int(digits)
    power = int(exponent or 0) - len(part)
    if abs(power) > 5_000:  # beyond every bound, and 10 ** power would take for ever
        raise overflow() if power > 0 else ToolError("overflow", f"{excerpt(word)} is too close to 0", "work with larger numbers")
    value = int(whole + part)
    return bounded(Fraction(value, 10**-power) if power < 0 else Fraction(value * 10**power))


def _refusal(word: str, start: int) -> ToolError:
    what, hint = _REFUSED.get(word, (name_of(word), "write numbers, + - * / ** ( ) and functions such as sqrt(x)"))
    kind = "unsupported" if word in _REFUSED else "syntax"
    return ToolError(kind, f"{what} at position {start + 1} is not part of arithmetic", hint)
