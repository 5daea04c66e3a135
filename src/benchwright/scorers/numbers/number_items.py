"""Recognition of numbers in a text, and of items with numbers: dates, times, ranges, lists, expressions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from benchwright.scorers.numbers.arithmetic import ExpressionValue, add_or_subtract
from benchwright.scorers.numbers.cursor import TokenCursor
from benchwright.scorers.numbers.expressions import read_expression
from benchwright.scorers.numbers.joined_numbers import (
    INEQUALITY_KIND,
    TUPLE_KIND,
    read_amount,
    read_joined_kind,
)
from benchwright.scorers.numbers.number_words import FRACTION_WORDS, word_set
from benchwright.scorers.numbers.numerals import LETTER_EXPRESSION_KIND, ORDINAL_KIND, TIME_SUFFIXES
from benchwright.scorers.numbers.quantity import Quantity
from benchwright.scorers.numbers.tokens import Token

_KINDS = {"date": "a date", "time": "a time of day"}
TIME_KINDS = tuple(_KINDS.values())
"""The kinds of items that are points in time (dates, times)."""

_LABELS = word_set(
    "step steps question problem example option part figure table equation case exercise chapter section"
)


class NumberItem(NamedTuple):
    """A number, or another item with numbers, that spans the tokens from `first_token` to `end_token` (exclusive).

    `value`: a quantity. If the item is no quantity, words for its kind (a date, a range, …).
    """

    value: ExpressionValue
    first_token: int
    end_token: int

    @property
    def is_ordinal(self) -> bool:
        """True for an ordinal number (5th), which counts only if there is no other number."""
        return self.value == ORDINAL_KIND


def find_number_items(tokens: Sequence[Token], *, words: bool = False) -> list[NumberItem]:
    """Return the items in a list of tokens, in order: numbers, and items that contain numbers.

    `words`: True to include numbers written in words.
    """
    found: list[NumberItem] = []
    place = 0
    while place < len(tokens):
        item = read_item(tokens, place, words=words)
        if item is not None:
            found.append(item)
        place = max(place + 1, item.end_token if item else _behind_name(tokens, place))
    return found


def read_item(tokens: Sequence[Token], place: int, *, words: bool = False) -> NumberItem | None:
    """Return the number or similar item that begins at a token. Return None if no item begins there."""
    token = tokens[place]
    if token.kind in _KINDS:
        return NumberItem(_KINDS[token.kind], place, place + 1)
    if _is_label(tokens, place):
        return None
    if _continues_letters(tokens, place):
        found = read_expression(tokens, place + 1)
        return None if found is None else NumberItem(LETTER_EXPRESSION_KIND, place - 1, found[1])
    if token.text in "<>≤≥≠" and token.kind == "sign":
        found = read_expression(tokens, place + 1)
        return None if found is None else NumberItem(INEQUALITY_KIND, place, found[1])
    found = read_amount(tokens, place, words)
    if found is None:
        return None
    item = NumberItem(found[0], place, found[1])
    return item if item.value == TUPLE_KIND else _extended(tokens, item, words)


def _behind_name(tokens: Sequence[Token], place: int) -> int:
    """Return the position after a name that contains a number, such as COVID-19 or Step 3.

    If no such name begins at the token, return the position of the next token.
    """
    token, cursor = tokens[place], TokenCursor(tokens, place)
    if token.kind != "word" or token.is_in_formula:
        return place + 1
    if token.text.lower() in _LABELS and cursor.is_number(1):
        return place + 2
    attached = not any(one.is_after_blank for one in tokens[place + 1 : place + 3])
    named = len(token.text) > 1 and cursor.is_sign("-", ahead=1) and cursor.is_number(2)
    return place + 3 if named and attached else place + 1


def _is_label(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the number at a token only numbers its line, as in `2. Add them`."""
    if (
        tokens[place].kind != "number"
        or (place > 0 and tokens[place - 1].text != "\n")
        or place + 2 >= len(tokens)
    ):
        return False
    dot, after = tokens[place + 1], tokens[place + 2]
    return dot.text in (".", ")") and not dot.is_after_blank and after.is_after_blank and after.text != "\n"


def _continues_letters(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the token is an arithmetic sign that follows a single letter, as in x + 5."""
    if place == 0 or tokens[place].kind != "sign" or tokens[place].text not in "+-×/^":
        return False
    before = tokens[place - 1]
    return before.kind == "word" and len(before.text) == 1 and before.text not in "aAI"


def _extended(tokens: Sequence[Token], item: NumberItem, words: bool) -> NumberItem:
    """Return the item extended by the tokens joined to it.

    These are an amount in a smaller unit, or the rest of a range or list.
    """
    cursor = TokenCursor(tokens, item.end_token)
    token = cursor.peek()
    if token is None:
        return item
    if (
        token.kind == "dots"
        and not token.is_after_blank
        and isinstance(item.value, Quantity)
        and not item.value.is_whole
    ):
        return NumberItem("a number whose digits go on", item.first_token, item.end_token + 1)
    if token.text == "_":
        braced = cursor.is_sign("{", ahead=1)
        return NumberItem(
            "a number in another base",
            item.first_token,
            min(item.end_token + (4 if braced else 2), len(tokens)),
        )
    if cursor.is_word(*TIME_SUFFIXES):
        return NumberItem(_KINDS["time"], item.first_token, item.end_token + 1)
    if cursor.is_word("and") and cursor.is_word("a", ahead=1) and cursor.is_word(*FRACTION_WORDS, ahead=2):
        return _and_a_part(tokens, item)
    smaller = _with_smaller_unit(tokens, item)
    if smaller is not None:
        return smaller
    while (more := read_joined_kind(TokenCursor(tokens, item.end_token), words)) is not None:
        item = NumberItem(more[0], item.first_token, more[1])
    return item


def _and_a_part(tokens: Sequence[Token], item: NumberItem) -> NumberItem:
    part = Fraction(1, FRACTION_WORDS[tokens[item.end_token + 2].text.lower()])
    value = (
        Quantity(item.value.value + part, unit=item.value.unit)
        if isinstance(item.value, Quantity)
        else item.value
    )
    return NumberItem(value, item.first_token, item.end_token + 3)


def _with_smaller_unit(tokens: Sequence[Token], item: NumberItem) -> NumberItem | None:
    """Return one item for an amount and the amount in a smaller unit after it (2 hours and 30 minutes).

    Return None if no such amount follows.
    """
    if not isinstance(item.value, Quantity) or item.value.unit is None:
        return None
    cursor = TokenCursor(tokens, item.end_token)
    cursor.place += cursor.is_word("and") or cursor.is_sign(",")
    found = read_expression(tokens, cursor.place) if cursor.is_number() else None
    if found is None or not isinstance(found[0], Quantity) or found[0].unit is None:
        return None
    unit, smaller = item.value.unit, found[0].unit
    if not unit.is_convertible_to(smaller) or smaller.factor >= unit.factor:
        return None
    return NumberItem(add_or_subtract(item.value, found[0], 1), item.first_token, found[1])
