"""Numbers of the calculator: whole numbers and rationals are exact, the rest are floats, and every result is bounded.

A whole number may have 3,900 digits, below the 4,300 at which Python refuses to write one. A number with a decimal part lives in
the range of a float. A rational that grows too long for exact work goes on as a float, unless it would become 0.
"""

import math
import sys
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, Inexact
from fractions import Fraction

from react_agent.errors import ToolError

Number = int | Fraction | float
MAX_BITS = 13_000
_FLOAT_BITS = 1_023
_LARGEST_FLOAT = int(sys.float_info.max)
_EXACT_DIGITS = 20  # a decimal of up to so many digits is written in full
_SHOWN_DIGITS = 15  # a longer or irrational one is rounded to so many, which hides the noise of floats
_MAX_ROOT = 64
_LONGEST_EXPONENT = 10**20


@dataclass(frozen=True, slots=True)
class Percent:
    """A number that was written with a percent sign: rate 10 is 10%, which is worth 0.1."""

    rate: Number

    @property
    def value(self) -> Number:
        return divide(self.rate, 100)


Value = Number | Percent


def bounded(value: Number) -> Number:
    """The value, when it can be kept and written; ToolError too_large or overflow when not."""
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise too_large()
        return value
    if isinstance(value, Fraction):
        top, bottom = value.numerator.bit_length(), value.denominator.bit_length()
        if top - bottom >= _FLOAT_BITS and abs(value.numerator) > _LARGEST_FLOAT * value.denominator:
            raise overflow()
        return value if max(top, bottom) <= MAX_BITS else as_float(value)
    if not math.isfinite(value):
        raise overflow()
    return value


def as_float(value: Number) -> float:
    """The nearest float; never 0 for what is not 0. Raises OverflowError, ToolError."""
    return _not_vanished(float(value)) if value else 0.0


def as_exact(value: Number) -> int | Fraction:
    """The number that show() would write, so that what is compared or rounded is what is seen."""
    return Fraction(format(value, f".{_SHOWN_DIGITS}g")) if isinstance(value, float) else value


def to_be_rounded(value: Number) -> int | Fraction:
    """as_exact, but with all digits of a float that has more than 15 before the point: none of them hides noise behind it."""
    return Fraction(value) if isinstance(value, float) and abs(value) >= 10**_SHOWN_DIGITS else as_exact(value)


def too_large() -> ToolError:
    return ToolError("too_large", "the result has more than 3,900 digits", "use smaller numbers; log10(x) tells how long a number is")


def overflow() -> ToolError:
    return ToolError("overflow", "the result is beyond 1.8e308, the end of decimal numbers", "use smaller numbers, or whole numbers only")


def add(a: Value, b: Value) -> Value:
    """a + b. A percentage of something else than a percentage is only added where both readings agree."""
    if isinstance(b, Percent):
        return Percent(bounded(a.rate + b.rate)) if isinstance(a, Percent) else _change(a, b, "+")
    return bounded(plain(a) + b)


def subtract(a: Value, b: Value) -> Value:
    if isinstance(b, Percent):
        return Percent(bounded(a.rate - b.rate)) if isinstance(a, Percent) else _change(a, b, "-")
    return bounded(plain(a) - b)


def negate(a: Value) -> Value:
    return Percent(-a.rate) if isinstance(a, Percent) else -a


def plain(value: Value) -> Number:
    return value.value if isinstance(value, Percent) else value


def _change(a: Number, b: Percent, sign: str) -> Number:
    """`50 + 10%` is 55 to one reader and 50.1 to another; `1 + 10%` is 1.1 to both."""
    share = b.value if sign == "+" else -b.value
    of_it, apart = bounded(a * (1 + share)), bounded(a + share)
    if of_it == apart:
        return of_it
    left, rate = show(a, 40), show(b.rate, 40)
    raise ToolError(
        "ambiguous", f"{left} {sign} {rate}% has two readings",
        f"write {left} * (1 {sign} {rate}/100) for {show(of_it, 40)}, or {left} {sign} {rate}/100 for {show(apart, 40)}",
    )  # fmt: skip


def multiply(a: Number, b: Number) -> Number:
    return bounded(a * b)


def divide(a: Number, b: Number) -> Number:
    if isinstance(a, int) and isinstance(b, int):
        quotient, rest = divmod(a, b)
        return quotient if rest == 0 else bounded(Fraction(a, b))
    return bounded(a / b)


def floor_divide(a: Number, b: Number) -> Number:
    return bounded(as_exact(a) // as_exact(b))


def modulo(a: Number, b: Number) -> Number:
    """The rest of floor division: it has the sign of b, as in mathematics and in Python."""
    return bounded(as_exact(a) % as_exact(b))


def power(a: Number, b: Number) -> Number:
    if a == 0 and b > 0:
        return 0
    if a == 0 and b < 0:
        raise ZeroDivisionError
    if isinstance(a, float) or isinstance(b, float):
        return _float_power(as_float(a), as_float(b))
    if b.denominator == 1:
        return _whole_power(a, b.numerator)
    if a < 0:
        raise _no_real_power(a, b)
    root = exact_root(a, b.denominator)
    return _long_power(a, b) if root is None else _whole_power(root, b.numerator)


def _whole_power(a: int | Fraction, n: int) -> Number:
    if a in (0, 1, -1):
        return 1 if n == 0 else a if n % 2 else a * a
    bits = max(a.numerator.bit_length(), a.denominator.bit_length())
    if (bits - 1) * abs(n) <= MAX_BITS:  # the size of the result, known before it is computed
        return bounded(Fraction(1, a**-n) if n < 0 and isinstance(a, int) else a**n)
    if isinstance(a, int) and n > 0:
        raise too_large()
    return _long_power(a, n)


def _long_power(a: int | Fraction, b: int | Fraction) -> float:
    """A power that is irrational or too long to be exact. With floats (1 + 1e-7) ** 1e7 would be wrong from the tenth digit on."""
    if abs(b.numerator) > _LONGEST_EXPONENT * b.denominator:
        raise ToolError("too_large", "the exponent has more than 20 digits", "use a smaller exponent")
    context = Context(prec=45, traps=[])
    base, exponent = (context.divide(Decimal(x.numerator), Decimal(x.denominator)) for x in (a, b))
    return _not_vanished(float(context.power(base, exponent)))


def _float_power(a: float, b: float) -> float:
    if a < 0 and not b.is_integer():
        raise _no_real_power(a, b)
    return _not_vanished(math.pow(a, b))


def _not_vanished(result: float) -> float:
    if result == 0:
        raise ToolError("overflow", "the result is not 0, but closer to it than 1e-323", "work with larger numbers or with logarithms")
    if math.isinf(result):
        raise overflow()
    return result


def _no_real_power(a: Number, b: Number) -> ToolError:
    hint = "for an odd root of a negative number write -(8 ** (1/3)), or cbrt(-8) for the third root"
    return ToolError("domain", f"({show(a, 40)}) ** ({show(b, 40)}) is not a real number", hint)


def exact_root(value: int | Fraction, degree: int) -> int | Fraction | None:
    """The root of a number that is not negative, None when it is irrational or not easily found."""
    top, bottom = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    if top is None or bottom is None:
        return None
    return top if bottom == 1 else Fraction(top, bottom)


def _whole_root(n: int, degree: int) -> int | None:
    if degree == 2:
        root = math.isqrt(n)
    elif degree <= _MAX_ROOT and n <= _LARGEST_FLOAT:
        root = round(n ** (1 / degree))
    else:
        return None
    return root if root**degree == n else None


def show(value: Number | bool, most: int = 4_000) -> str:
    """A number as it is written for the reader, at most so many characters."""
    text = _written(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _written(value: Number | bool) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _decimal_text(Decimal(format(value, f".{_SHOWN_DIGITS}g")), 15)
    top, bottom = Decimal(value.numerator), Decimal(value.denominator)
    context = Context(prec=_EXACT_DIGITS, rounding=ROUND_HALF_UP, traps=[])
    quotient = context.divide(top, bottom)
    if not context.flags[Inexact]:
        return _decimal_text(quotient, 21)
    return _decimal_text(Context(prec=_SHOWN_DIGITS, rounding=ROUND_HALF_UP).divide(top, bottom), _SHOWN_DIGITS)


def _decimal_text(number: Decimal, most_whole_digits: int) -> str:
    """Plain notation from 0.000001 up to numbers of so many digits, 1.5e22 and 1.5e-9 beyond."""
    if not number:
        return "0"
    if -6 <= number.adjusted() < most_whole_digits:
        text = format(number, "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    digits, _, exponent = format(number, "e").partition("e")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}e{int(exponent)}"
