"""Values of expressions, and operations on them that end soon whatever they are given.

A value is an exact fraction as long as it is rational, else a complex number of double precision.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction

Value = Fraction | complex

MOST_BITS = 200_000
"""The size of numbers above which nothing is computed: towers of powers must not fill the memory."""

MOST_FACTORIAL = 5_000


class Rounded(complex):
    """A number with a decimal point, or what follows from such ones and fractions alone."""


class NoValue(Exception):
    """What was written has no value here: it cannot be read, is infinite, undefined or too large."""


def power(base: Value, exponent: Value) -> Value:
    """base ** exponent, exact where the result is rational.

    Raises:
        NoValue: it is undefined or too large.
    """
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            return _whole_power(base, exponent.numerator)
        root = _exact_root(base, exponent.denominator) if exponent.denominator < 1000 else None
        if root is not None:
            return _whole_power(root, exponent.numerator)
    return floating(pow, base, exponent)


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * bits > MOST_BITS and abs(base) != 1:
        raise NoValue("too large")
    if exponent < 0 and not base:
        raise NoValue("division by zero")
    return Fraction(base**exponent) if abs(base) != 1 else (base if exponent % 2 else Fraction(1))


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    """The root of a fraction that has a rational one; None otherwise, and of negative ones."""
    if base < 0:
        return None
    roots = [_whole_root(part, degree) for part in (base.numerator, base.denominator)]
    return None if None in roots else Fraction(roots[0] or 0, roots[1] or 1)


def _whole_root(number: int, degree: int) -> int | None:
    """The whole root of a number, by Newton's steps from above."""
    if not number:
        return 0
    root = 1 << -(-number.bit_length() // degree)
    while (lower := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = lower
    return root if root**degree == number else None


def divide(above: Value, below: Value) -> Value:
    """above / below.

    Raises:
        NoValue: below is 0.
    """
    if not below:
        raise NoValue("division by zero")
    if isinstance(above, Fraction) and isinstance(below, Fraction):
        return bounded(above / below)
    return floating(lambda x, y: x / y, above, below)


def multiply(one: Value, other: Value) -> Value:
    """one * other."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return bounded(one * other)
    return floating(lambda x, y: x * y, one, other)


def add(one: Value, other: Value) -> Value:
    """one + other."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return bounded(one + other)
    return floating(lambda x, y: x + y, one, other)


def factorial(value: Value) -> Value:
    """value!, of numbers that are not whole by the gamma function.

    Raises:
        NoValue: it is undefined or too large.
    """
    if isinstance(value, Fraction) and value.denominator == 1:
        return Fraction(math.factorial(_whole(value, MOST_FACTORIAL)))
    return floating(lambda number: math.gamma(number.real + 1), complex(real(value)))


def binomial(above: Value, below: Value) -> Value:
    """The binomial coefficient.

    Raises:
        NoValue: `below` is not a whole number from 0 to 5,000, or the result is too large.
    """
    count = _whole(below, MOST_FACTORIAL)
    if isinstance(above, Fraction) and above.denominator == 1 and above >= 0:
        number = above.numerator
        if min(count, number - count) * number.bit_length() > MOST_BITS:
            raise NoValue("too large")
        return Fraction(math.comb(number, count))
    product: Value = Fraction(1)
    for number in range(count):
        product = divide(multiply(product, add(above, Fraction(-number))), Fraction(number + 1))
    return product


def absolute(value: Value) -> Value:
    """|value|"""
    return abs(value) if isinstance(value, Fraction) else complex(abs(value))


def function_value(name: str, value: Value) -> Value:
    """One of `FUNCTIONS` of a value; a logarithm also of a fraction too large for double precision.

    Raises:
        NoValue: it is undefined.
    """
    if name in ("ln", "log") and isinstance(value, Fraction) and value > 0:
        return complex(math.log(value.numerator) - math.log(value.denominator))
    return floating(FUNCTIONS[name], value)


def logarithm(value: Value, base: Value) -> Value:
    """The logarithm of a value.

    Raises:
        NoValue: it is undefined.
    """
    return divide(function_value("log", value), function_value("log", base))


def conjugate(value: Value) -> Value:
    """The complex conjugate."""
    return value if isinstance(value, Fraction) else value.conjugate()


def real(value: Value) -> Fraction | float:
    """The value as a real number.

    Raises:
        NoValue: it is none.
    """
    if isinstance(value, Fraction):
        return value
    if abs(value.imag) > 1e-12 * abs(value):
        raise NoValue("not real")
    return value.real


def floating(function: Callable[..., complex], *values: Value) -> complex:
    """A function of complex numbers; of rounded numbers and fractions it is rounded.

    Raises:
        NoValue: it is undefined, or a number is too large for double precision.
    """
    try:
        result = complex(function(*map(complex, values)))
    except (ArithmeticError, ValueError) as error:
        raise NoValue(str(error)) from error
    if not cmath.isfinite(result):
        raise NoValue("infinite")
    decimal = any(isinstance(value, Rounded) for value in values)
    return (
        Rounded(result)
        if decimal and all(isinstance(value, (Fraction, Rounded)) for value in values)
        else result
    )


def bounded(value: Fraction) -> Fraction:
    """The value itself.

    Raises:
        NoValue: it is too large.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise NoValue("too large")
    return value


def _whole(value: Value, most: int) -> int:
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= most:
        raise NoValue("no whole number in reach")
    return value.numerator


FUNCTIONS: dict[str, Callable[[complex], complex]] = {
    **{name: getattr(cmath, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    "cot": lambda x: 1 / cmath.tan(x),
    "sec": lambda x: 1 / cmath.cos(x),
    "csc": lambda x: 1 / cmath.sin(x),
    "arcsin": cmath.asin,
    "arccos": cmath.acos,
    "arctan": cmath.atan,
    "ln": cmath.log,
    "log": cmath.log,
    "lg": cmath.log10,
}
"""What can be applied to a value. `log` without a base is the natural one, as in sympy's reader of LaTeX."""

CONSTANTS: dict[str, Value] = {"pi": complex(math.pi), "e": complex(math.e), "i": 1j}
