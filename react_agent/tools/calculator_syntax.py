"""The grammar of the calculator: an expression -> the steps that calculate it, in the order of a stack machine.

Precedence climbing. What the grammar does not know cannot be written, so there is nothing to forbid: no attributes, no strings, no
names but those of the tables. Nothing is calculated here; the steps are flat, so that long sums need no deep recursion.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, NoReturn

from react_agent.errors import ToolError
from react_agent.tools.calculator_functions import CONSTANTS, FUNCTIONS, MAX_ARGUMENTS, Function, find_function
from react_agent.tools.calculator_input import excerpt
from react_agent.tools.calculator_names import unknown_name
from react_agent.tools.calculator_readings import (
    check_arguments,
    check_share,
    check_worded_root,
    is_loose,
    is_percent,
    missing_operator,
    starts_operand,
    stray_comma,
    two_products,
)
from react_agent.tools.calculator_tokens import ROOTS, Token, matching_brackets, tokenize
from react_agent.tools.calculator_values import (
    Number,
    Percent,
    add,
    as_exact,
    divide,
    floor_divide,
    modulo,
    multiply,
    negate,
    power,
    subtract,
)

MAX_STEPS = 400
MAX_DEPTH = 80
MAX_SIGNS = 60


class Operation(NamedTuple):
    """Take so many values from the stack and put back call(*values)."""

    call: Callable[..., Any]
    takes: int
    name: str = ""


Step = Number | Operation  # a number is put on the stack


class _Binary(NamedTuple):
    """left: how strongly the operator holds what stands before it; right: how strongly one after it must hold to go first."""

    call: Callable[..., Number | Percent]
    left: int
    right: int


_SIGN, _IMPLIED = 40, "implied *"
_BINARY: Mapping[str, _Binary] = {
    "+": _Binary(add, 20, 21),
    "-": _Binary(subtract, 20, 21),
    "*": _Binary(multiply, 30, 31),
    "of": _Binary(multiply, 30, 31),
    _IMPLIED: _Binary(multiply, 30, 31),
    "/": _Binary(divide, 30, 31),
    "//": _Binary(floor_divide, 30, 31),
    "%": _Binary(modulo, 30, 31),
    "mod": _Binary(modulo, 30, 31),
    "**": _Binary(power, 50, 50),
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b, "!=": lambda a, b: a != b,
}  # fmt: skip


def parse(text: str) -> list[Step]:
    """The steps of a cleaned expression. Raises ToolError syntax, unsupported, name, arguments, ambiguous, too_deep, too_long."""
    return _Parser(text).parse()


def _compare(signs: tuple[str, ...], *values: Number) -> bool:
    exact = [as_exact(value) for value in values]
    return all(_COMPARISONS[sign](a, b) for sign, a, b in zip(signs, exact, exact[1:], strict=False))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.closing = matching_brackets(self.tokens)
        self.steps: list[Step] = []
        self.index = 0
        self.depth = 0

    def parse(self) -> list[Step]:
        self._comparison()
        if self.next.kind != "end":
            self._unexpected()
        return self.steps

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def _take(self) -> Token:
        self.index += 1
        return self.tokens[self.index - 1]

    def _emit(self, step: Step) -> None:
        self.steps.append(step)
        if len(self.steps) > MAX_STEPS:
            raise ToolError("too_long", f"more than {MAX_STEPS} numbers and operations", "calculate it in parts")

    def _nested(self, rule: Callable[[], None]) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ToolError("too_deep", f"nested more than {MAX_DEPTH} deep", "calculate the inner part first, in a call of its own")
        rule()
        self.depth -= 1

    def _comparison(self) -> None:
        self._expression(0)
        signs = []
        while self.next.text in _COMPARISONS:
            signs.append(self._take().text)
            self._expression(0)
        if signs:
            self._emit(Operation(partial(_compare, tuple(signs)), len(signs) + 1))

    def _expression(self, least: int) -> None:
        """An operand and every operator after it that holds at least so strongly."""
        first = self.index
        self._operand()
        while True:
            sign = self._operator()
            rule = _BINARY.get(sign)
            if rule is None or rule.left < least:
                return
            if sign == _IMPLIED:
                if is_loose(self.tokens, first):
                    self._refuse_product(first)
            else:
                if sign == "of":
                    check_share(self.tokens, first, self.index)
                self._take()
            first = self.index
            if sign == "**":
                self._nested(partial(self._expression, rule.right))
            else:
                self._expression(rule.right)
            self._emit(Operation(rule.call, 2))

    def _operator(self) -> str:
        """The operator that comes next, also one that is implied: 2(3), 2 pi. Empty when the operand is the last one."""
        token, before = self.next, self.tokens[self.index - 1]
        if not starts_operand(token):
            return token.text if token.kind == "operator" else ""
        if token.kind == "number" and before.text != ")":
            raise missing_operator(before, token)
        if before.kind == "name" and token.text == "(":
            raise ToolError("syntax", f"{before.text} is a number, not a function", f"write {before.text} * (…)")
        return _IMPLIED

    def _refuse_product(self, first: int) -> NoReturn:
        at = self.index
        self._expression(_BINARY[_IMPLIED].right)
        raise two_products(self.text, self.tokens, first, at, self.index)

    def _operand(self) -> None:
        signs = []
        while self.next.text in ("+", "-"):
            signs.append(self._take().text)
        if len(signs) > MAX_SIGNS:
            raise ToolError("too_deep", f"more than {MAX_SIGNS} signs in a row", "write one sign")
        if signs:
            self._nested(partial(self._expression, _SIGN))
            if signs.count("-") % 2:
                self._emit(Operation(negate, 1))
            return
        first, token = self.index, self._take()
        self._primary(token)
        bare_root = token.text in ROOTS and self.tokens[self.index - 1].text != ")"
        while self._postfix(bare_root):
            self._take()
        if bare_root:
            check_worded_root(self.text, self.tokens, first, self.index)

    def _postfix(self, bare_root: bool) -> bool:
        token = self.next
        if token.kind == "superscript":
            self._emit(token.value)
            self._emit(Operation(power, 2))
            return True
        if token.text == "!":
            self._emit(Operation(FUNCTIONS["factorial"].call, 1, "factorial"))
        elif token.text == "percent" or (token.text == "%" and is_percent(self.tokens, self.index)):
            self._emit(Operation(Percent, 1))
        else:
            return False
        if bare_root:
            raise ToolError("ambiguous", f"a root before {token.text} has two readings", "put brackets around what belongs to the root")
        return True

    def _primary(self, token: Token) -> None:
        if token.kind == "number":
            self._emit(token.value)
        elif token.kind == "name":
            self._name(token)
        elif token.text == "(":
            self._nested(self._comparison)
            if self.next.text == ",":
                raise ToolError("unsupported", "round brackets hold one number, not several", "a list is an argument: sum([1, 2, 3])")
            if self.next.text != ")":
                self._unexpected()
            self._take()
        elif token.text in ROOTS:
            self._nested(lambda: self._primary(self._take()))
            self._emit(Operation(FUNCTIONS[ROOTS[token.text]].call, 1, ROOTS[token.text]))
        else:
            self.index -= 1
            self._unexpected()

    def _name(self, token: Token) -> None:
        if token.text.lower() in CONSTANTS:
            self._emit(CONSTANTS[token.text.lower()])
            return
        function, called = find_function(token.text), self.next.text == "("
        if function is None:
            before = self.tokens[max(self.index - 2, 0)]
            raise unknown_name(token.text, called, after=before.text if before.kind == "number" else "")
        if not called:
            hint = f"write {function.usage}; if {token.text} is a unit, leave it out, and if it stands for a number, write the number"
            raise ToolError("syntax", f"{token.text} needs its argument in brackets", hint)
        self._take()
        self._nested(partial(self._call, function))

    def _call(self, function: Function) -> None:
        """The arguments, also as one list: sum([1, 2, 3])."""
        start, end = self.index, self.closing[self.index - 1]
        written = self.text[self.tokens[start].start : self.tokens[end].start]
        listed = function.takes_list and self.closing.get(start) == end - 1
        if listed:
            self._take()
        count = self._arguments(end - listed)
        check_arguments(function, count, written)
        self._emit(Operation(function.call, count, function.name))
        self.index = end + 1

    def _arguments(self, end: int) -> int:
        """How many expressions, separated by commas, stand before the token at end."""
        count = 0
        while self.index < end:
            if self.next.kind == "name" and self.tokens[self.index + 1].text == "=":
                raise ToolError("arguments", f"arguments have no names here: {excerpt(self.next.text)}=", "write only the values, in order")
            self._comparison()
            count += 1
            if self.next.text == ",":
                self._take()
            elif self.index < end:
                self._unexpected()
        if count > MAX_ARGUMENTS:
            raise ToolError("too_long", f"a function takes at most {MAX_ARGUMENTS} numbers", "calculate it in parts")
        return count

    def _unexpected(self) -> NoReturn:
        token = self.next
        place = f"at position {token.start + 1}"
        if token.kind == "end":
            raise ToolError("syntax", "the expression ends too early", "add the number that is missing at its end")
        if token.text == "=":
            left = excerpt(self.text[: token.start].strip(), 80)
            raise ToolError("unsupported", f"'=' {place}: equations are not solved", f"write only {left}")
        if token.text == ",":
            raise stray_comma(self.tokens, self.index)
        if token.text in ("[", "]"):
            raise ToolError("unsupported", f"a list {place}", "a list can only be the argument of sum, mean, min, max …; else use ( )")
        raise ToolError("syntax", f"{excerpt(token.text)!r} {place} has no number before it", "write a number on both sides of operators")
