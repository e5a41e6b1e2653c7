"""The calculator against two corpora: calculator.jsonl accepts several answers where tastes differ, calculator_more.jsonl pins ours."""

import json
import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from react_agent.errors import ToolError
from react_agent.registry import ToolRegistry
from react_agent.tools.calculator import calculate, calculator_tools
from react_agent.tools.calculator_functions import ALIASES, FUNCTIONS

DATA = Path(__file__).parent / "data"
TYPES = {
    "empty", "syntax", "unsupported", "name", "arguments", "type", "domain", "division_by_zero", "overflow", "too_large", "too_long",
    "too_deep", "ambiguous",
}  # fmt: skip
ALSO = {  # what an attack may be refused as, when the corpus names one type for a whole group
    "escape": {"unsupported", "name", "syntax", "arguments", "type", "domain", "too_deep"},
    "bomb": {"too_large", "too_long", "too_deep", "overflow", "unsupported", "syntax", "name"},
}


def corpus(name):
    cases = [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]
    return [pytest.param(case, id=case["id"]) for case in cases]


def expression(case):
    return "".join(text * times for text, times in case["parts"]) if case.get("parts") else case["expr"]


def outcome(text):
    """("ok", value) or ("error", type), and the error."""
    try:
        return ("ok", calculate(text)), None
    except ToolError as error:
        return ("error", error.type), error


def is_same(got, wanted, exact):
    if got == wanted or wanted == "*":
        return True
    try:
        a, b = Decimal(got), Decimal(wanted)
    except InvalidOperation:
        return False
    return a == b or (not exact and abs(a - b) <= Decimal("1e-12") * max(1, abs(b)))


def is_accepted(case, result):
    expect, (kind, value) = case["expect"], result
    alternatives = expect.get("alt", [])
    if kind == "error":
        return value in {expect.get("error"), *(alt.removeprefix("error:") for alt in alternatives), *ALSO.get(case["group"], ())}
    return any(is_same(value, wanted, expect.get("exact")) for wanted in [expect.get("ok"), *alternatives] if wanted is not None)


@pytest.mark.parametrize("case", corpus("calculator.jsonl"))
def test_corpus(case):
    result, _ = outcome(expression(case))
    assert is_accepted(case, result), result


@pytest.mark.parametrize("case", corpus("calculator_more.jsonl"))
def test_our_choices(case):
    result, error = outcome(expression(case))
    assert dict([result]) == case["expect"]
    assert re.search(case.get("hint", ""), error.hint if error else "")


@pytest.mark.parametrize("case", corpus("calculator.jsonl") + corpus("calculator_more.jsonl"))
def test_an_error_is_one_short_line_that_says_what_to_do(case):
    text = expression(case)
    _, error = outcome(text)
    if error is None:
        return
    assert error.type in TYPES
    assert error.hint and error.message
    line = json.dumps({"ok": False, "error": {"type": error.type, "message": error.message, "hint": error.hint}})
    assert len(line) <= 500
    assert "\n" not in error.message + error.hint
    assert "Traceback" not in line and not re.search(r"[\"' ]/\w+/|object at 0x|<class", line)
    assert not any(text[at : at + 201] in error.message + error.hint for at in range(len(text) - 200))


@pytest.mark.parametrize("given", [None, 5, 2.5, True, b"1+1", ["1+1"], {"expression": "1+1"}])
def test_what_is_no_text_is_a_tool_error(given):
    assert outcome(given)[0] == ("error", "type")


WRITTEN = st.text(st.sampled_from("0123456789.,+-*/%^()[]!=<>√²⁻½π$€×÷ \n'\"#x_abeinopqrst"), max_size=40) | st.text(max_size=40)


@given(WRITTEN)
def test_any_text_gives_a_number_or_a_tool_error(text):
    (kind, value), error = outcome(text)
    if kind == "error":
        assert value in TYPES and error.hint
    else:
        assert value in ("True", "False") or Decimal(value).is_finite()


PIECES = [*"+-*/%!(),[]^", "//", "**", "9", "99", "0.5", "1e9", "(9**9)", "factorial(", "round(", "sum([", "pi"]


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_any_arithmetic_is_bounded(pieces):
    (kind, value), _ = outcome("".join(pieces))
    assert len(value) <= 4_000 and (kind == "error" or value in ("True", "False") or Decimal(value).is_finite())


NUMBERS = st.decimals(min_value=-1000, max_value=1000, places=3).map(lambda number: (format(number, "f"), Fraction(number)))


def joined(parts):
    (a, x), sign, (b, y) = parts
    value = {"+": lambda: x + y, "-": lambda: x - y, "*": lambda: x * y, "/": lambda: x / y if y else None}[sign]()
    return f"({a}) {sign} ({b})", value


def larger(trees):
    return st.tuples(trees, st.sampled_from("+-*/"), trees).map(joined).filter(lambda tree: tree[1] is not None)


@given(st.recursive(NUMBERS, larger, max_leaves=6))
def test_arithmetic_is_exact(tree):
    text, value = tree
    assert calculate(f"({text}) == {value.numerator}/{value.denominator}".replace("== -", "== 0-")) == "True"


def test_functions_and_aliases_can_all_be_called():
    for name, function in FUNCTIONS.items():
        result, _ = outcome(f"{name}({', '.join(['1'] * max(function.least, 2 if name in ('variance', 'stdev') else 1))})")
        assert result[0] == "ok" or (name, result[1]) == ("atanh", "domain"), name
    assert set(ALIASES.values()) <= set(FUNCTIONS)
    assert not set(ALIASES) & set(FUNCTIONS)


def test_the_tool():
    (tool,) = calculator_tools()
    assert (tool.name, tool.read_only, tool.untrusted_output, tool.volatile) == ("calculator", True, False, False)
    assert tool.parameter_names == ("expression",)
    assert tool.function(expression="17.5% of 1234") == "215.95"
    assert ToolRegistry([tool]).names == ("calculator",)
    assert tool.calculates
    assert "17.5% of 1234" in tool.description and outcome("17.5% of 1234")[0][0] == "ok"
