"""The calculator: one expression of arithmetic in, the exact number out.

calculator_input takes off what people write around an expression, calculator_tokens and calculator_syntax read it,
calculator_functions says what can be called, calculator_values calculates within bounds.

What it takes an expression to mean:
    0.1 + 0.2 is 0.3: decimals and fractions are exact; what is irrational is a float, shown with 15 digits.
    round(2.675, 2) is 2.68, round(2.5) is 3, round(-2.5) is -3: half away from zero, on the decimal digits.
    -7 % 3 is 2, -7 // 2 is -4 (floor); -2**2 is -4; ^ is power; 2^3^2 is 2^9; log(x) is the natural logarithm.
    17.5% of 1234 is 215.95, 10% is 0.1; 50 + 10% is refused with both readings, as are 6/2(1+2), 10%-3, 3 of 5, 1,5 and 0,123,
    2e + 3, 24/12/2023, "square root of 9 + 16", and std (of a sample: stdev; of all there are: pstdev).
    1,234.5 is a number, but max(1,234) has two arguments; max(1,200, 950) and round(1,234) are refused with both readings.
    2(3+4), 2 pi, 5!, √16, 3², 3 x 4, ×÷−·π½, $, full-width signs, a trailing "= ?", code fences and math. are understood.
    (-8)**(1/3), inf and nan are never numbers; 1 < 2 gives True; exp(-1000) is 0, but a power is never rounded to 0.
"""

from typing import Any

from react_agent.errors import ToolError
from react_agent.registry import Tool
from react_agent.tools.calculator_input import clean
from react_agent.tools.calculator_syntax import Operation, parse
from react_agent.tools.calculator_values import Percent, add, negate, overflow, plain, show, subtract

_DESCRIPTION = (
    "Calculates one expression of numbers, without units or names: + - * / // % ** ( ), 17.5% of 1234, sqrt, round, min, max, sum"
)
_TAKES_PERCENT = frozenset((add, subtract, negate))


def calculate(expression: object) -> str:
    """The value of an expression such as "17.5% of 1234", as text.

    Raises ToolError: empty, type, too_long, too_deep, syntax, unsupported, name, arguments, ambiguous, domain, division_by_zero,
    overflow, too_large. Nothing else, whatever the text.
    """
    stack: list[Any] = []
    for step in parse(clean(expression)):
        if isinstance(step, Operation):
            values = stack[-step.takes :]
            stack[-step.takes :] = [_apply(step, values)]
        else:
            stack.append(step)
    result = stack.pop()
    return show(result.value if isinstance(result, Percent) else result)


def _apply(step: Operation, values: list[Any]) -> Any:
    if any(isinstance(value, bool) for value in values):
        raise ToolError("type", "a comparison gives True or False, which is no number", "compare in an expression of its own")
    if step.call not in _TAKES_PERCENT:
        values = [plain(value) for value in values]
    try:
        return step.call(*values)
    except ZeroDivisionError:
        raise ToolError("division_by_zero", "division by zero", "check the divisor") from None
    except OverflowError:
        raise overflow() from None
    except ValueError:
        raise _no_real_number(step, values) from None


def _no_real_number(step: Operation, values: list[Any]) -> ToolError:
    written = ", ".join(show(value, 30) for value in values[:3]) + (", …" if len(values) > 3 else "")
    return ToolError("domain", f"{step.name}({written}) is not a real number", f"check the argument of {step.name}")


def calculator_tools() -> list[Tool]:
    """The tool `calculator`."""
    expression = {"type": "string"}
    parameters = {"type": "object", "properties": {"expression": expression}, "required": ["expression"], "additionalProperties": False}
    return [Tool("calculator", _DESCRIPTION, parameters, calculate, read_only=True, calculates=True)]
