"""Values of expressions, and operations on them whose time and memory are bounded for any input.

A rational value is an exact fraction. Any other value is a complex number of double precision.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction

Value = Fraction | complex

MAX_BITS = 200_000
"""Maximum size of the numbers that are computed, in bits.

Larger numbers are not computed, so that towers of powers cannot fill the memory.
"""

MAX_FACTORIAL_ARGUMENT = 5_000


class InexactComplex(complex):
    """A decimal number (written with a point), or the result of an operation on decimal numbers and fractions."""


class NoValueError(Exception):
    """The error of an expression without a value here: it is unreadable, infinite, undefined or too large."""


def raise_to_power(base: Value, exponent: Value) -> Value:
    """Return base ** exponent. A rational result is exact.

    Raises:
        NoValueError: If the result is undefined or too large.
    """
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            return _whole_power(base, exponent.numerator)
        root = _exact_root(base, exponent.denominator) if exponent.denominator < 1000 else None
        if root is not None:
            return _whole_power(root, exponent.numerator)
    return apply_as_complex(pow, base, exponent)


def _whole_power(base: Fraction, exponent: int) -> Fraction:
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if abs(exponent) * bits > MAX_BITS and abs(base) != 1:
        raise NoValueError("too large")
    if exponent < 0 and not base:
        raise NoValueError("division by zero")
    return Fraction(base**exponent) if abs(base) != 1 else (base if exponent % 2 else Fraction(1))


def _exact_root(base: Fraction, degree: int) -> Fraction | None:
    """Return the root of a fraction if the root is rational.

    Return None for irrational roots and for negative fractions.
    """
    if base < 0:
        return None
    roots = [_whole_root(part, degree) for part in (base.numerator, base.denominator)]
    return None if None in roots else Fraction(roots[0] or 0, roots[1] or 1)


def _whole_root(number: int, degree: int) -> int | None:
    """Return the root of a whole number, found by Newton's method from above.

    Return None if the root is not a whole number.
    """
    if not number:
        return 0
    root = 1 << -(-number.bit_length() // degree)
    while (lower := ((degree - 1) * root + number // root ** (degree - 1)) // degree) < root:
        root = lower
    return root if root**degree == number else None


def divide(above: Value, below: Value) -> Value:
    """Return above / below.

    Raises:
        NoValueError: If `below` is 0, or the result is too large.
    """
    if not below:
        raise NoValueError("division by zero")
    if isinstance(above, Fraction) and isinstance(below, Fraction):
        return check_number_size(above / below)
    return apply_as_complex(lambda x, y: x / y, above, below)


def multiply(one: Value, other: Value) -> Value:
    """Return one * other."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return check_number_size(one * other)
    return apply_as_complex(lambda x, y: x * y, one, other)


def add(one: Value, other: Value) -> Value:
    """Return one + other."""
    if isinstance(one, Fraction) and isinstance(other, Fraction):
        return check_number_size(one + other)
    return apply_as_complex(lambda x, y: x + y, one, other)


def factorial(value: Value) -> Value:
    """Return the factorial of a value. The gamma function is used if the value is not a whole number.

    Raises:
        NoValueError: If the result is undefined or too large.
    """
    if isinstance(value, Fraction) and value.denominator == 1:
        return Fraction(math.factorial(_whole(value, MAX_FACTORIAL_ARGUMENT)))
    return apply_as_complex(lambda number: math.gamma(number.real + 1), complex(to_real_number(value)))


def binomial_coefficient(above: Value, below: Value) -> Value:
    """Return the binomial coefficient: the number of ways to choose `below` from `above`.

    Raises:
        NoValueError: If `below` is not a whole number from 0 to 5,000, or the result is too large.
    """
    count = _whole(below, MAX_FACTORIAL_ARGUMENT)
    if isinstance(above, Fraction) and above.denominator == 1 and above >= 0:
        number = above.numerator
        if min(count, number - count) * number.bit_length() > MAX_BITS:
            raise NoValueError("too large")
        return Fraction(math.comb(number, count))
    product: Value = Fraction(1)
    for number in range(count):
        product = divide(multiply(product, add(above, Fraction(-number))), Fraction(number + 1))
    return product


def absolute_value(value: Value) -> Value:
    """Return the absolute value."""
    return abs(value) if isinstance(value, Fraction) else complex(abs(value))


def apply_named_function(name: str, value: Value) -> Value:
    """Return the value of a function, one of `COMPLEX_FUNCTIONS`.

    Logarithms also work for fractions that are too large for double precision.

    Raises:
        NoValueError: If the result is undefined.
    """
    if name in ("ln", "log") and isinstance(value, Fraction) and value > 0:
        return complex(math.log(value.numerator) - math.log(value.denominator))
    return apply_as_complex(COMPLEX_FUNCTIONS[name], value)


def logarithm(value: Value, base: Value) -> Value:
    """Return the logarithm of a value to a base.

    Raises:
        NoValueError: If the logarithm is undefined.
    """
    return divide(apply_named_function("log", value), apply_named_function("log", base))


def complex_conjugate(value: Value) -> Value:
    """Return the complex conjugate."""
    return value if isinstance(value, Fraction) else value.conjugate()


def to_real_number(value: Value) -> Fraction | float:
    """Return the value as a real number.

    Raises:
        NoValueError: If the value is not real.
    """
    if isinstance(value, Fraction):
        return value
    if abs(value.imag) > 1e-12 * abs(value):
        raise NoValueError("not real")
    return value.real


def apply_as_complex(function: Callable[..., complex], *values: Value) -> complex:
    """Apply a function to the values, converted to complex numbers, and return the result.

    If all values are fractions or `InexactComplex`, and at least one is `InexactComplex`, the result is
    `InexactComplex`. Otherwise it is a plain complex number.

    Raises:
        NoValueError: If the result is undefined, or a number is too large for double precision.
    """
    try:
        result = complex(function(*map(complex, values)))
    except (ArithmeticError, ValueError) as error:
        raise NoValueError(str(error)) from error
    if not cmath.isfinite(result):
        raise NoValueError("infinite")
    decimal = any(isinstance(value, InexactComplex) for value in values)
    return (
        InexactComplex(result)
        if decimal and all(isinstance(value, (Fraction, InexactComplex)) for value in values)
        else result
    )


def check_number_size(value: Fraction) -> Fraction:
    """Return the value unchanged if it is not too large.

    Raises:
        NoValueError: If the value is too large.
    """
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise NoValueError("too large")
    return value


def _whole(value: Value, most: int) -> int:
    if not isinstance(value, Fraction) or value.denominator != 1 or not 0 <= value <= most:
        raise NoValueError("no whole number in reach")
    return value.numerator


COMPLEX_FUNCTIONS: dict[str, Callable[[complex], complex]] = {
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
"""Mapping from the name of a supported function to the function.

`log` without a base is the natural logarithm, as in sympy's LaTeX parser.
"""

NAMED_CONSTANTS: dict[str, Value] = {"pi": complex(math.pi), "e": complex(math.e), "i": 1j}
