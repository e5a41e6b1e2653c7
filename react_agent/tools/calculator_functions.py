"""The functions and constants of the calculator: one table, nothing else can be called.

Each takes and gives numbers and is bounded by itself. ValueError from one means: not a real number there.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from react_agent.errors import ToolError
from react_agent.tools.calculator_values import (
    Number,
    as_exact,
    as_float,
    bounded,
    divide,
    exact_root,
    modulo,
    multiply,
    power,
    show,
    to_be_rounded,
)
from react_agent.tools.calculator_whole import comb, factorial, gcd, isqrt, lcm, modular_power, perm, whole

MAX_ARGUMENTS = 200
_MAX_DIGITS = 400
_MAX_ANGLE = 1e9  # beyond it the error of a float is seen in the 7th digit of its sine


@dataclass(frozen=True, slots=True)
class Function:
    """One function. least, most: how many arguments it takes; usage: how a call is written."""

    name: str
    call: Callable[..., Number]
    least: int
    most: int
    usage: str

    @property
    def takes_list(self) -> bool:
        return self.most == MAX_ARGUMENTS

    @property
    def arity(self) -> str:
        if self.least == self.most:
            return f"{self.least} argument{'s' if self.least > 1 else ''}"
        return "at least 1 argument" if self.takes_list else f"{self.least} to {self.most} arguments"


def _round(value: Number, digits: Number = 0) -> Number:
    """Half away from zero, on the decimal digits: 2.675 to two digits is 2.68."""
    places = whole(digits, "the second argument of round", "type")
    if abs(places) > _MAX_DIGITS:
        raise ToolError("too_large", f"round can keep at most {_MAX_DIGITS} digits", "write round(x, 2) for two digits after the point")
    scale = Fraction(10) ** places
    scaled = to_be_rounded(value) * scale
    nearest = math.floor(abs(scaled) + Fraction(1, 2))
    rounded = (nearest if scaled >= 0 else -nearest) / scale
    return rounded.numerator if places <= 0 or isinstance(value, int) else rounded


def _sum(*values: Number) -> Number:
    return reduce(lambda a, b: bounded(a + b), values)


def _product(*values: Number) -> Number:
    return reduce(multiply, values)


def _mean(*values: Number) -> Number:
    return divide(_sum(*values), len(values))


def _median(*values: Number) -> Number:
    ordered, middle = sorted(values, key=as_exact), len(values) // 2
    return ordered[middle] if len(values) % 2 else _mean(*ordered[middle - 1 : middle + 1])


def _spread(*values: Number) -> Number:
    """The sum of the squared distances from the mean."""
    mean = _mean(*values)
    return _sum(*(multiply(bounded(value - mean), bounded(value - mean)) for value in values))


def _variance(*values: Number) -> Number:
    if len(values) < 2:
        raise ToolError("arguments", "the variance of a sample needs at least 2 numbers", "write variance([2, 4, 9])")
    return divide(_spread(*values), len(values) - 1)


def _population_variance(*values: Number) -> Number:
    return divide(_spread(*values), len(values))


def _sqrt(value: Number) -> Number:
    if value < 0:
        raise ValueError
    return power(value, Fraction(1, 2))


def _cbrt(value: Number) -> Number:
    if value < 0:
        return -_cbrt(-value)
    root = None if isinstance(value, float) else exact_root(value, 3)
    return math.cbrt(as_float(value)) if root is None else root


def _log(value: Number, base: Number | None = None) -> Number:
    """The natural logarithm without a base; exact where the value is a whole power of the base."""
    if base is None:
        return _ln(value)
    if base <= 0 or base == 1:
        raise ValueError
    result = _ln(value) / _ln(base)
    nearest = round(result)
    if abs(result) < 1e6 and abs(result - nearest) < 1e-9 and not isinstance(value, float) and power(base, nearest) == value:
        return nearest
    return result


def _ln(value: Number) -> float:
    """Also of whole numbers and rationals that no float can hold."""
    if value <= 0:
        raise ValueError
    if isinstance(value, Fraction) and 0.5 < value < 2:
        return math.log1p(as_float(value - 1))  # as a float, 1.0000000000001 keeps three of its digits
    if isinstance(value, float) or 2.0**-1000 < value < 2.0**1000:
        return math.log(value)
    return math.log(value.numerator) - math.log(value.denominator)


def _of_angle(function: Callable[[float], float], value: Number) -> float:
    """0 for a result that a float's error in the angle alone could have made: sin(pi), cos(pi/2)."""
    angle = as_float(value)
    exact = not isinstance(value, float) and angle == value
    if abs(angle) > _MAX_ANGLE and not exact:
        raise ToolError("too_large", f"the angle {show(value, 40)} is not known exactly enough", "leave whole turns of 2*pi out of it")
    result = function(angle)
    return 0.0 if isinstance(value, float) and abs(result) < abs(angle) * 4e-16 else result


def _tan(value: Number) -> float:
    if _of_angle(math.cos, value) == 0:
        raise ValueError
    return _of_angle(math.tan, value)


def _hypot(*sides: Number) -> Number:
    return _sqrt(_sum(*(multiply(side, side) for side in sides)))


def _fmod(a: Number, b: Number) -> Number:
    """The rest of a division that truncates: it has the sign of a, as in C."""
    rest = modulo(a if a >= 0 else -a, b if b >= 0 else -b)
    return rest if a >= 0 else -rest


def _sign(value: Number) -> int:
    return (value > 0) - (value < 0)


def _min(*values: Number) -> Number:
    return min(values, key=as_exact)


def _max(*values: Number) -> Number:
    return max(values, key=as_exact)


def _of_float(function: Callable[..., float]) -> Callable[..., float]:
    return lambda *values: function(*map(as_float, values))


def _table(*functions: Function) -> dict[str, Function]:
    return {function.name: function for function in functions}


def _many(name: str, call: Callable[..., Number]) -> Function:
    return Function(name, call, 1, MAX_ARGUMENTS, f"{name}(1, 2, 3)")


def _one(name: str, call: Callable[..., Number]) -> Function:
    return Function(name, call, 1, 1, f"{name}(x)")


FUNCTIONS: Mapping[str, Function] = _table(
    _one("abs", abs),
    Function("round", _round, 1, 2, "round(x, digits)"),
    _one("floor", lambda x: math.floor(to_be_rounded(x))),
    _one("ceil", lambda x: math.ceil(to_be_rounded(x))),
    _one("int", lambda x: math.trunc(to_be_rounded(x))),
    _one("float", lambda x: x),
    _one("sign", _sign),
    _many("min", _min),
    _many("max", _max),
    _many("sum", _sum),
    _many("prod", _product),
    _many("mean", _mean),
    _many("median", _median),
    _many("variance", _variance),
    _many("stdev", lambda *values: _sqrt(_variance(*values))),
    _many("pvariance", _population_variance),
    _many("pstdev", lambda *values: _sqrt(_population_variance(*values))),
    _many("len", lambda *values: len(values)),
    _one("sqrt", _sqrt),
    _one("cbrt", _cbrt),
    _one("isqrt", isqrt),
    _many("hypot", _hypot),
    Function("pow", modular_power, 2, 3, "pow(x, y)"),
    Function("mod", modulo, 2, 2, "mod(x, y)"),
    Function("fmod", _fmod, 2, 2, "fmod(x, y)"),
    Function("copysign", _of_float(math.copysign), 2, 2, "copysign(x, y)"),
    _one("exp", _of_float(math.exp)),
    Function("log", _log, 1, 2, "log(x) for the natural logarithm, log(x, base)"),
    _one("log2", lambda x: _log(x, 2)),
    _one("log10", lambda x: _log(x, 10)),
    _one("exp2", lambda x: power(2, x)),
    _one("log1p", _of_float(math.log1p)),
    _one("expm1", _of_float(math.expm1)),
    _one("factorial", factorial),
    Function("comb", comb, 2, 2, "comb(n, k)"),
    Function("perm", perm, 1, 2, "perm(n, k)"),
    _many("gcd", gcd),
    _many("lcm", lcm),
    _one("sin", lambda x: _of_angle(math.sin, x)),
    _one("cos", lambda x: _of_angle(math.cos, x)),
    _one("tan", _tan),
    _one("asin", _of_float(math.asin)),
    _one("acos", _of_float(math.acos)),
    _one("atan", _of_float(math.atan)),
    Function("atan2", _of_float(math.atan2), 2, 2, "atan2(y, x)"),
    _one("sinh", _of_float(math.sinh)),
    _one("cosh", _of_float(math.cosh)),
    _one("tanh", _of_float(math.tanh)),
    _one("asinh", _of_float(math.asinh)),
    _one("acosh", _of_float(math.acosh)),
    _one("atanh", _of_float(math.atanh)),
    _one("degrees", _of_float(math.degrees)),
    _one("radians", _of_float(math.radians)),
    _one("gamma", _of_float(math.gamma)),
)
ALIASES: Mapping[str, str] = {
    "ln": "log", "power": "pow", "average": "mean", "avg": "mean", "product": "prod", "trunc": "int", "fabs": "abs", "sgn": "sign",
    "ceiling": "ceil", "count": "len", "ncr": "comb", "npr": "perm", "choose": "comb",
    "fact": "factorial", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "print": "float", "minimum": "min", "maximum": "max",
}  # fmt: skip
CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}


def find_function(name: str) -> Function | None:
    """The function of a name, whatever its case, also under the names that other programs give it; `print` gives back its number."""
    lower = name.lower()
    return FUNCTIONS.get(ALIASES.get(lower, lower))
