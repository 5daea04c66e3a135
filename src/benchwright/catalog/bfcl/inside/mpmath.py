"""Replaces the mpmath library. BFCL's MathAPI uses only mpmath's logarithms and its precision setting.

A value is a binary floating-point number of any precision: a fraction with the requested number of
significant bits. It prints in mpmath's form (`mpf('2.0')`), since the model sees that form.
"""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal, localcontext
from fractions import Fraction

BITS_PER_DIGIT = 3.3219280948873626


class Context:
    """The precision setting, in decimal digits (`dps`) and in bits."""

    def __init__(self) -> None:
        self.bits = 53
        self.digits = 15

    @property
    def dps(self) -> int:
        """Number of decimal digits."""
        return self.digits

    @dps.setter
    def dps(self, digits: int) -> None:
        self.digits = max(1, int(digits))
        self.bits = max(1, round((int(digits) + 1) * BITS_PER_DIGIT))


mp = Context()


class Number:
    """A number that prints in mpmath's form."""

    def __init__(self, exact: Fraction) -> None:
        self.exact = rounded(exact, mp.bits)

    def __truediv__(self, other: Number) -> Number:
        return Number(self.exact / other.exact)

    def __repr__(self) -> str:
        digits = max(1, round(mp.bits / BITS_PER_DIGIT) - 1)
        return f"mpf('{shown(self.exact, 17 if digits == 15 else digits + 3)}')"


def log(value: float) -> Number:
    """Return the natural logarithm of a positive number."""
    exact = Fraction(value)
    if exact <= 0:
        raise ValueError("the logarithm of a number that is not positive")
    with localcontext() as context:
        context.prec = mp.digits + 40
        return Number(Fraction((Decimal(exact.numerator) / Decimal(exact.denominator)).ln()))


def rounded(exact: Fraction, bits: int) -> Fraction:
    """Return the fraction rounded to `bits` significant bits, ties to even."""
    if not exact:
        return exact
    shift = bits - (abs(exact.numerator).bit_length() - exact.denominator.bit_length())
    scale = Fraction(2) ** shift
    if abs(exact * scale) >= 2**bits:
        scale /= 2
    return Fraction(round(exact * scale)) / scale


def shown(exact: Fraction, digits: int) -> str:
    """Return a fraction as decimal text with at most `digits` significant digits, ties rounded up.

    Large and small numbers are in scientific notation.
    """
    if not exact:
        return "0.0"
    with localcontext() as context:
        context.prec, context.rounding = digits + 3, ROUND_DOWN
        value = Decimal(exact.numerator) / Decimal(exact.denominator)
        context.prec, context.rounding = digits, "ROUND_HALF_UP"
        sign, figures, _ = (+value).as_tuple()
        exponent = (+value).adjusted()
    text = "".join(map(str, figures)).rstrip("0") or "0"
    minus = "-" if sign else ""
    if not min(-(digits // 3), -5) < exponent < digits:
        return f"{minus}{text[0]}.{text[1:] or '0'}e{exponent:+d}"
    if exponent < 0:
        return f"{minus}0.{'0' * (-exponent - 1)}{text}"
    whole, rest = text[: exponent + 1].ljust(exponent + 1, "0"), text[exponent + 1 :]
    return f"{minus}{whole}.{rest or '0'}"
