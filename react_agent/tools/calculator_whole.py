"""Functions of whole numbers: divisors, factorials, choices, remainders of powers. Each knows the size of its result beforehand."""

import math

from react_agent.errors import ToolError
from react_agent.tools.calculator_values import Number, as_exact, bounded, power, show, too_large

_MAX_FACTORIAL = 1_400
_MAX_CHOSEN = 2_000
_MAX_SET = 1_000_000
_MAX_MODULAR_BITS = 2_048


def whole(value: Number, what: str, type: str = "domain") -> int:
    """The value as an int; ToolError when it is not a whole number."""
    exact = as_exact(value)
    if exact.denominator != 1:
        raise ToolError(type, f"{what} needs a whole number, not {show(value, 40)}", "round it first, for example with floor(x)")
    return exact.numerator


def factorial(value: Number) -> int:
    n = whole(value, "factorial")
    if n < 0:
        raise ValueError
    if n > _MAX_FACTORIAL:
        raise too_large()
    return math.factorial(n)


def comb(total: Number, chosen: Number) -> Number:
    n, k = whole(total, "comb"), whole(chosen, "comb")
    if n < 0 or k < 0:
        raise ValueError
    if k > n:
        return 0
    if n > _MAX_SET or min(k, n - k) > _MAX_CHOSEN:
        raise too_large()
    return bounded(math.comb(n, k))


def perm(total: Number, chosen: Number | None = None) -> Number:
    n = whole(total, "perm")
    k = n if chosen is None else whole(chosen, "perm")
    if n < 0 or k < 0:
        raise ValueError
    if k > n:
        return 0
    if n > _MAX_SET or k > _MAX_FACTORIAL:
        raise too_large()
    return bounded(math.perm(n, k))


def gcd(*values: Number) -> Number:
    return math.gcd(*(whole(value, "gcd") for value in values))


def lcm(*values: Number) -> Number:
    common: Number = 1
    for value in values:
        common = bounded(math.lcm(whole(common, "lcm"), whole(value, "lcm")))
    return common


def isqrt(value: Number) -> int:
    return math.isqrt(whole(value, "isqrt"))


def modular_power(base: Number, exponent: Number, modulus: Number | None = None) -> Number:
    if modulus is None:
        return power(base, exponent)
    a, n, m = (whole(value, "pow with three arguments") for value in (base, exponent, modulus))
    if n < 0:
        raise ValueError
    if max(a.bit_length(), n.bit_length(), m.bit_length()) > _MAX_MODULAR_BITS:
        raise ToolError("too_large", "the numbers of a modular power may have 600 digits", "use smaller numbers")
    if m == 0:
        raise ZeroDivisionError
    return pow(a, n, m)
