"""Reader of numbers in digits with their scale, fraction, currency and unit."""

from __future__ import annotations

import re
from fractions import Fraction

from benchwright.scorers.numbers.arithmetic import (
    NO_NUMBER_KIND,
    TOO_LARGE_KIND,
    ExpressionValue,
    divide,
    multiply,
)
from benchwright.scorers.numbers.cursor import TokenCursor
from benchwright.scorers.numbers.digits import MAX_DIGITS, read_digits
from benchwright.scorers.numbers.number_words import MONEY_LETTERS, SCALE_LETTERS, SCALE_WORDS
from benchwright.scorers.numbers.quantity import Quantity, Unit
from benchwright.scorers.numbers.units import (
    CURRENCY_BY_SIGN,
    UNIT_BY_NAME,
    UNIT_BY_SIGN,
    find_unit,
    read_unit,
)

LETTER_EXPRESSION_KIND = "an expression with letters"
NUMBER_LIST_KIND = "a list of numbers"
ORDINAL_KIND = "an ordinal number"
TIME_SUFFIXES = ("am", "pm", "a.m", "p.m")
CURRENCY_CODES = frozenset({"usd", "eur", "gbp", "jpy", "inr", "rs", "us"})
"""Words and codes of currencies that may precede an amount, in lower case."""

_REPEATING = re.compile(r"([0-9]+)\.([0-9]*)(?:\\overline\{|\()([0-9]+)")
_FRACTIONS = ("frac", "dfrac", "tfrac", "cfrac")


def read_number(cursor: TokenCursor, money: Unit | None = None) -> ExpressionValue:
    """Read the number at the cursor, which must be at digits, and return its value.

    `money`: the currency whose sign or code precedes the digits; None if there is none.
    """
    token = cursor.tokens[cursor.place]
    cursor.place += 1
    found = read_digits(token.text)
    if len(token.text) > MAX_DIGITS:
        return TOO_LARGE_KIND
    if found is None:
        return NUMBER_LIST_KIND if token.text.count(",") > 1 else NO_NUMBER_KIND
    value: ExpressionValue = Quantity(*found)
    attached = _attached(cursor, money)
    if attached is not None:
        value = multiply(value, attached)
    if isinstance(value, str):
        return value
    if value.is_whole:
        value = _mixed(cursor, value)
    return _scaled(cursor, value)._replace(unit=money or read_unit(cursor))


def read_money(cursor: TokenCursor) -> ExpressionValue | None:
    """Read a currency's sign or code and the amount after it. Return the amount.

    Return None if there is no such amount.
    """
    before, token = cursor.place, cursor.tokens[cursor.place]
    cursor.place += 1
    if token.text.lower() == "us" and cursor.is_sign("$"):
        token = cursor.tokens[cursor.place]
        cursor.place += 1
    elif token.text.lower() == "rs" and cursor.is_sign("."):
        cursor.place += 1
    unit = UNIT_BY_SIGN.get(token.text) or UNIT_BY_NAME.get(token.text.lower())
    if unit is None or not cursor.is_number():
        cursor.place = before
        return None
    return read_number(cursor, unit)


def read_repeating_decimal(text: str) -> Quantity:
    r"""Return the value of a repeating decimal, such as 0.1\overline{6} or 0.1(6)."""
    found = _REPEATING.match(text)
    assert found is not None
    whole, decimals, period = found.groups()
    first = Fraction(int(whole + decimals), 10 ** len(decimals))
    return Quantity(first + Fraction(int(period), 10 ** len(decimals) * (10 ** len(period) - 1)))


def is_at_currency(cursor: TokenCursor) -> bool:
    """Return True if the cursor is at the sign or code of a currency."""
    token = cursor.peek()
    return token is not None and (
        token.text in CURRENCY_BY_SIGN or (token.kind == "word" and token.text.lower() in CURRENCY_CODES)
    )


def _attached(cursor: TokenCursor, money: Unit | None) -> ExpressionValue | None:
    """Read letters attached to a number, and return what they mean.

    The result is a factor (5k), or words for an ordinal (5th) or an expression with unknowns (5x). Return None
    if there are no such letters, or if they are a unit or an ordinary word (156pieces).
    """
    token = cursor.peek()
    if token is None or token.is_after_blank or token.kind != "word":
        return None
    letters = MONEY_LETTERS if money else SCALE_LETTERS
    if token.text in letters:
        cursor.place += 1
        return Quantity(Fraction(letters[token.text]), True)
    ordinal = token.text in ("st", "nd", "rd", "th")
    named = token.text.lower() in SCALE_WORDS or find_unit(token.text) is not None
    letters_of_unknowns = len(token.text) == 1 or (len(token.text) == 2 and set(token.text) & set("xyz"))
    if not letters_of_unknowns and not named and not token.is_in_formula and not ordinal:
        cursor.place += 1
        return None  # a word without a blank before it: 156pieces
    if named or "\u3040" <= token.text[0] <= "\u9fff":
        return None
    cursor.place += 1
    return ORDINAL_KIND if ordinal else LETTER_EXPRESSION_KIND


def _mixed(cursor: TokenCursor, whole: Quantity) -> Quantity:
    r"""Return a number together with the proper fraction after it: 2 1/2, 2½, 2\frac{1}{2}, 2 and 1/2.

    Without such a fraction, return the number alone.
    """
    before = cursor.place
    if cursor.is_word("and") or cursor.is_sign("&"):
        cursor.place += 1
    part = _proper_fraction(cursor)
    if part is None:
        cursor.place = before
        return whole
    return Quantity(whole.value + part)


def _proper_fraction(cursor: TokenCursor) -> Fraction | None:
    token = cursor.peek()
    if token is None:
        return None
    if token.kind == "vulgar":
        cursor.place += 1
        return vulgar_fraction(token.text)
    if token.kind == "command" and token.text in _FRACTIONS:
        places = (2, 5) if cursor.is_sign("{", ahead=1) else (1, 2)
    else:
        places = (0, 2)
        line, under = cursor.peek(1), cursor.peek(2)
        if line is None or under is None or line.text != "/" or line.is_after_blank or under.is_after_blank:
            return None
    found = [cursor.peek(place) for place in places]
    digits = [one.text for one in found if one is not None and one.kind == "number" and one.text.isdecimal()]
    if len(digits) < 2 or len(digits[1]) > 3:
        return None
    part = divide(*(Quantity(Fraction(int(one))) for one in digits))
    if isinstance(part, str) or not 0 < part.value < 1:
        return None
    cursor.place += places[1] + (2 if places == (2, 5) else 1)
    return part.value


def vulgar_fraction(sign: str) -> Fraction:
    """Return the value of a fraction that is one character, such as ½."""
    import unicodedata

    return Fraction(unicodedata.numeric(sign)).limit_denominator(20)


def _scaled(cursor: TokenCursor, quantity: Quantity) -> Quantity:
    while (token := cursor.peek()) is not None and token.kind == "word" and token.text.lower() in SCALE_WORDS:
        cursor.place += 1
        value = quantity.value * SCALE_WORDS[token.text.lower()]
        quantity = Quantity(value, value.denominator == 1)
    return quantity
