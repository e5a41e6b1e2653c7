"""What can be read in two ways: percent signs, commas, products without a sign. In doubt both readings are shown and none is taken.

tokens, at: all tokens of the expression, and the index of the one that is looked at.
"""

import re
from collections.abc import Sequence

from react_agent.errors import ToolError
from react_agent.tools.calculator_functions import CONSTANTS, Function, find_function
from react_agent.tools.calculator_input import excerpt
from react_agent.tools.calculator_tokens import ROOTS, Token

_DIVISIONS = ("/", "//", "%", "mod")
_PERCENT = ("%", "percent")
_REACHED = ("+", "-", "*", *_DIVISIONS)
_NUMBER = r"[0-9]{1,3}(?:,[0-9]{3})+"
_GROUPED = re.compile(rf"(?<![\w.,^%])(?<!\*\*){_NUMBER}(?!\w|,\S)")
_BOTH_SIDES = re.compile(rf"(?<![\w.,]){_NUMBER}(?=\s*[-+*/]\s*{_NUMBER}(?!\w))")  # of an operator
_POINTED = re.compile(r"[0-9,]+|[0-9]{1,3}(?:\.[0-9]{3})+")  # no point in it, or points between thousands
_ZEROS = re.compile(r"(?<![\w.])[0-9]{1,3}(?:,[0-9]{3})*,0[0-9]{2}(?!\w)")  # nobody writes an argument so


def starts_operand(token: Token) -> bool:
    return token.kind in ("number", "name") or token.text in ("(", *ROOTS)


def is_percent(tokens: Sequence[Token], at: int) -> bool:
    """Whether a % after an operand is a percent sign; if not, it is the modulo operator. ToolError when it could be either."""
    before, sign, after = tokens[at - 1 : at + 2]
    if after.text in ("+", "-"):
        return _is_percent_before_sign(tokens, at)
    if not starts_operand(after) or _is_unknown(after):  # `10% tax`: the name is what is wrong
        return True
    if before.end == sign.start and sign.end < after.start:
        raise _two_percents(sign, f"{_piece(before)}% of {_piece(after)}", f"{_piece(before)} % {_piece(after)}")
    return False


def _is_percent_before_sign(tokens: Sequence[Token], at: int) -> bool:
    """`7 % -3` is modulo, `10% - 3` and `100%-15%` are percentages, `10%-3` could be either."""
    before, sign, after, operand = tokens[at - 1 : at + 3]
    glued_left, glued_right = before.end == sign.start, after.end == operand.start
    if not glued_left and glued_right:
        return False
    spaced = sign.end < after.start and not glued_right
    if glued_left and (spaced or _is_percentage(tokens, at + 2)):
        return True
    left, right = _piece(before), _piece(operand)
    raise _two_percents(sign, f"{left}/100 {after.text} {right}", f"{left} % ({after.text}{right})")


def _piece(token: Token) -> str:
    """What a token stands for in a hint: itself, when it is a whole operand."""
    return token.text if token.kind in ("number", "name") else "(…)"


def _is_percentage(tokens: Sequence[Token], at: int) -> bool:
    """A number and its percent sign."""
    return tokens[at].kind == "number" and tokens[at + 1].text in _PERCENT and not starts_operand(tokens[at + 2])


def _is_unknown(token: Token) -> bool:
    return token.kind == "name" and token.text.lower() not in CONSTANTS and find_function(token.text) is None


def _two_percents(sign: Token, percentage: str, rest: str) -> ToolError:
    hint = f"write {excerpt(percentage, 60)} for the percentage, or {excerpt(rest, 60)} for the rest of a division"
    return ToolError("ambiguous", f"'%' at position {sign.start + 1} has two readings", hint)


def check_share(tokens: Sequence[Token], first: int, at: int) -> None:
    """`100 / 50% of 20` and `3 of 5` have two readings, `2/3 of 90` has one. first: where the operand before the `of` at `at` begins."""
    before, divides = tokens[at - 1], first > 0 and tokens[first - 1].text in _DIVISIONS
    if divides and before.text in _PERCENT:
        raise ToolError("ambiguous", "a division by a percentage of something has two readings", "use brackets: 100 / (50% of 20)")
    if not divides and before.kind == "number" and isinstance(before.value, int):
        share, whole = excerpt(before.text), excerpt(_piece(tokens[at + 1]))
        raise ToolError("ambiguous", f"{share} of {whole} has two readings", f"write {share} * {whole}, or {share} / {whole}")


def is_loose(tokens: Sequence[Token], first: int) -> bool:
    """Whether a product without * after the operand at first has two readings: 6/2(1+2), 2^3(4), √4(9)."""
    return _is_bare_root(tokens, first) or (first > 0 and tokens[first - 1].text in (*_DIVISIONS, "**"))


def _is_bare_root(tokens: Sequence[Token], first: int) -> bool:
    return tokens[first].text in ROOTS and tokens[first + 1].text != "("


def two_products(text: str, tokens: Sequence[Token], first: int, at: int, end: int) -> ToolError:
    """at: where the implied factor begins; end: the first token after it."""
    inner = first + _is_bare_root(tokens, first)
    start, gap, stop = tokens[inner].start, tokens[at].start, tokens[end - 1].end
    head, left, right, tail = text[:start], text[start:gap].rstrip(), text[gap:stop], text[stop:]
    apart = f"{head}({left}) * {right}{tail}" if inner > first else f"{head}{left} * {right}{tail}"
    together = f"{head}({left} * {right}){tail}"
    return ToolError("ambiguous", "a product without * has two readings here", f"write {excerpt(apart, 90)} or {excerpt(together, 90)}")


def check_worded_root(text: str, tokens: Sequence[Token], first: int, at: int) -> None:
    """`square root of 9 + 16` does not say how far the root reaches, as √9 + 16 does. at: the token after what it was taken of."""
    phrase, sign = tokens[first], tokens[at]
    if phrase.end - phrase.start > 1 and sign.text in _REACHED:
        bare, root = excerpt(text[tokens[first + 1].start : tokens[at - 1].end], 30), phrase.text
        hint = f"write {root}({bare}) {sign.text} … or {root}({bare} {sign.text} …)"
        raise ToolError("ambiguous", f"a root in words before {sign.text!r} has two readings", hint)


def stray_comma(tokens: Sequence[Token], at: int) -> ToolError:
    """A comma outside a function, in no number with thousands separators: 1,5 or 12,34."""
    before, comma, after = tokens[max(at - 1, 0)], tokens[at], tokens[at + 1]
    touching = before.end == comma.start and comma.end == after.start
    if before.kind == after.kind == "number" and touching and _POINTED.fullmatch(before.text):
        whole = before.text.replace(",", "").replace(".", "")
        part = after.text.replace(",", "")
        hint = f"write {excerpt(f'{whole}.{part}')} with a decimal point, or {excerpt(f'{whole}{part}')} without a separator"
        return ToolError("ambiguous", f"the comma at position {comma.start + 1} has two readings", hint)
    message = f"the comma at position {comma.start + 1} does not stand between the arguments of a function"
    return ToolError("unsupported", message, "calculate one expression a call; lists are arguments: sum([1, 2, 3])")


def missing_operator(before: Token, after: Token) -> ToolError:
    """Two numbers side by side."""
    hint = "write + - * / between two numbers"
    if after.text.startswith("."):
        hint = "a number has one decimal point, and no other points"
    elif len(after.text) == 3:
        hint += f", or {excerpt(before.text + after.text)} for one number"
    return ToolError("syntax", f"an operator is missing between {excerpt(before.text)!r} and {excerpt(after.text)!r}", hint)


def check_arguments(function: Function, count: int, written: str) -> None:
    """ToolError arguments for too few or too many, ambiguous for `round(1,234)`. written: the arguments as they stand."""
    grouped = _GROUPED.search(written)
    if not function.least <= count <= function.most:
        hint = f"write {function.usage}" + ("; a comma separates arguments, so write 1234, not 1,234" if grouped else "")
        raise ToolError("arguments", f"{function.name} takes {function.arity}, not {count}", hint)
    swallowed = function.least < count and not function.takes_list  # round(1,234) would be round(1, 234)
    uneven = ", " in written  # max(1,200, 950)
    doubtful = _ZEROS.search(written) or _BOTH_SIDES.search(written) or (grouped if swallowed or uneven else None)
    if doubtful:
        number, several = doubtful[0].replace(",", ""), doubtful[0].replace(",", ", ")
        hint = f"write {excerpt(number)} for the number, or {excerpt(several)} for separate arguments"
        raise ToolError("ambiguous", f"{excerpt(doubtful[0])} has two readings", hint)
