"""Reader of digits with separators. One rule decides which separators group thousands, and which begin decimals."""

from __future__ import annotations

import re
from fractions import Fraction

MAX_DIGITS = 4_000
"""Maximum number of digits of a number that is read, and the largest exponent of ten.

Python refuses to convert longer numbers.
"""

BLANK_CHARACTERS = "\u00a0\u2009\u202f"
BLANK_PATTERN = rf"(?:[ {BLANK_CHARACTERS}]|\\[,;:!\ ])"
_COMMA = r"(?:\{,\}|,\\!\ ?|,)"

DIGITS_PATTERN = rf"""
    (?: (?<![0-9.,]) [0-9]{{1,3}} (?: {BLANK_PATTERN} [0-9]{{3}} (?![0-9]) )+ (?: [.,][0-9]+ )?
      | [0-9]+ (?: (?: {_COMMA} | [.'\u2019_] ) [0-9]+ )*
      | \.[0-9]+ )
    (?: [eE] [-+\u2212]? [0-9]+ (?!\w) )?"""
"""Regular expression (verbose) for the digits of a number and all separators between them."""

_GROUPED = {
    mark: re.compile(rf"(?P<whole>[0-9]{{1,3}}(?:{sign}[0-9]{{3}})+)(?:{decimals}(?P<part>[0-9]+))?")
    for mark, sign, decimals in ((",", ",", r"\."), (" ", " ", "[.,]"), ("'", "'", r"\."), (".", r"\.", ","))
}
_INDIAN = re.compile(r"(?P<whole>[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3})(?:\.(?P<part>[0-9]+))?")
_PLAIN = re.compile(r"(?P<whole>[0-9]*)(?:[.,](?P<part>[0-9]+))?")
_UNDERSCORES = re.compile(r"(?P<whole>[0-9]{1,3}(?:_[0-9]{3})+)(?:\.(?P<part>[0-9]+))?")
_SEPARATOR = re.compile(BLANK_PATTERN)
_EXPONENT = re.compile(r"[eE]([-+\u2212]?[0-9]+)$")


def read_digits(written: str) -> tuple[Fraction, bool] | None:
    """Return the value of digits with separators, and True if they are written as a whole number.

    Groups of exactly three digits are thousands after a comma (`1,234,567`), a blank or an apostrophe, or
    after two or more points (`1.234.567`). Otherwise a point or a single comma begins the decimals (`3.5`,
    `3,5`, `0,125`). If there are both points and commas, the last separator begins the decimals (`1.234,5`).
    Return None for other forms (`1,3,7`, `1.2.3`).
    """
    if len(written) > MAX_DIGITS:
        return None
    exponent = _EXPONENT.search(written)
    power = int(exponent[1].replace("\u2212", "-")) if exponent else 0
    if abs(power) > MAX_DIGITS:
        return None
    digits = written[: exponent.start()] if exponent else written
    digits = digits.replace("{,}", ",").replace(",\\! ", ",").replace(",\\!", ",").replace("\u2019", "'")
    match = _match(_SEPARATOR.sub(" ", digits))
    if match is None:
        return None
    whole, part = "".join(filter(str.isdigit, match["whole"])), match["part"] or ""
    value = Fraction(int(whole + part or "0"), 10 ** len(part)) * Fraction(10) ** power
    return value, not part and not exponent


def _match(digits: str) -> re.Match[str] | None:
    if digits.startswith("0,"):  # a group of thousands never begins with 0
        return _PLAIN.fullmatch(digits)
    if (
        digits.count(".") == 1
        and "," not in digits
        and " " not in digits
        and "'" not in digits
        and "_" not in digits
    ):
        return _PLAIN.fullmatch(digits)
    patterns = (*_GROUPED.values(), _INDIAN, _UNDERSCORES, _PLAIN)
    return next((match for pattern in patterns if (match := pattern.fullmatch(digits))), None)
