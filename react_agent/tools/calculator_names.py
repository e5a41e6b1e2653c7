"""The error for a name that the calculator does not know: a unit, a variable, a function of some other program."""

import difflib

from react_agent.errors import ToolError
from react_agent.tools.calculator_functions import ALIASES, CONSTANTS, FUNCTIONS
from react_agent.tools.calculator_input import excerpt

_NO_NUMBERS = ("nan", "inf", "infinity")
_SPREADS = {"std": ("stdev", "pstdev"), "var": ("variance", "pvariance")}  # numpy means the second, spreadsheets the first
_SELDOM = frozenset(
    ("float", "len", "exp2", "log1p", "expm1", "fmod", "copysign", "isqrt", "gamma", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
     "pstdev", "pvariance")
)  # fmt: skip


def unknown_name(name: str, called: bool, after: str) -> ToolError:
    """called: a bracket follows. after: the number that stands right before the name, empty when none does."""
    shown, lower = excerpt(name), name.lower()
    if lower in _NO_NUMBERS:
        return ToolError("name", f"{shown} is not a number", "work with finite numbers only")
    if lower in _SPREADS:
        sample, population = _SPREADS[lower]
        hint = f"write {sample}([...]) when the numbers are a sample, {population}([...]) when they are all there are"
        return ToolError("ambiguous", f"{shown} has two readings", hint)
    close = difflib.get_close_matches(lower[:40], [*FUNCTIONS, *ALIASES, *CONSTANTS], n=1, cutoff=0.78)
    meant = f"did you mean {close[0]}? " if close else ""
    if called:
        return ToolError("name", f"there is no function {shown}", f"{meant}functions: {function_names()}")
    if after:
        hint = f"{meant}if it is a unit, write it into the sentence, not the expression; if it stands for a number, write * and that number"
        return ToolError("name", f"{shown} after {excerpt(after)} is not known", hint)
    return ToolError("name", f"{shown} is not known; there are no variables", f"{meant}write the number itself in place of {shown}")


def function_names() -> str:
    """The functions that are worth naming, on one line."""
    return ", ".join(name for name in FUNCTIONS if name not in _SELDOM)
