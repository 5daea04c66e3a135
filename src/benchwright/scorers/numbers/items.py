"""Recognition of numbers in a text, and of items with numbers: dates, times, ranges, lists, expressions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from benchwright.scorers.numbers.arithmetic import Value, add
from benchwright.scorers.numbers.cursor import Cursor
from benchwright.scorers.numbers.expressions import read_expression
from benchwright.scorers.numbers.joined_numbers import INEQUALITY, TUPLE, joined_kind, read_amount
from benchwright.scorers.numbers.number_words import FRACTION_WORDS, word_set
from benchwright.scorers.numbers.numerals import EXPRESSION_WITH_LETTERS, ORDINAL, TIME_SUFFIXES
from benchwright.scorers.numbers.quantity import Quantity
from benchwright.scorers.numbers.tokens import Token

_KINDS = {"date": "a date", "time": "a time of day"}
TIME_KINDS = tuple(_KINDS.values())
"""The kinds of items that are points in time (dates, times)."""

_LABELS = word_set(
    "step steps question problem example option part figure table equation case exercise chapter section"
)


class Item(NamedTuple):
    """A number or similar item: the tokens from `first` to `last` (exclusive), and their value.

    `value`: a quantity, or words for what it is instead (a date, a range, …).
    """

    value: Value
    first: int
    last: int

    @property
    def is_ordinal(self) -> bool:
        """True for an ordinal number (5th), which counts only if there is no other number."""
        return self.value == ORDINAL


def items_of(tokens: Sequence[Token], *, words: bool = False) -> list[Item]:
    """Return the numbers among the tokens, and the items that contain numbers, in order.

    `words`: include numbers written in words.
    """
    found: list[Item] = []
    place = 0
    while place < len(tokens):
        item = read_item(tokens, place, words=words)
        if item is not None:
            found.append(item)
        place = max(place + 1, item.last if item else _behind_name(tokens, place))
    return found


def read_item(tokens: Sequence[Token], place: int, *, words: bool = False) -> Item | None:
    """Return the number or similar item that begins at a token; None if there is none."""
    token = tokens[place]
    if token.kind in _KINDS:
        return Item(_KINDS[token.kind], place, place + 1)
    if _is_label(tokens, place):
        return None
    if _continues_letters(tokens, place):
        found = read_expression(tokens, place + 1)
        return None if found is None else Item(EXPRESSION_WITH_LETTERS, place - 1, found[1])
    if token.text in "<>≤≥≠" and token.kind == "sign":
        found = read_expression(tokens, place + 1)
        return None if found is None else Item(INEQUALITY, place, found[1])
    found = read_amount(tokens, place, words)
    if found is None:
        return None
    item = Item(found[0], place, found[1])
    return item if item.value == TUPLE else _extended(tokens, item, words)


def _behind_name(tokens: Sequence[Token], place: int) -> int:
    """Return the position after a name with a number, such as COVID-19 or Step 3.

    If there is no such name, return the next position.
    """
    token, cursor = tokens[place], Cursor(tokens, place)
    if token.kind != "word" or token.in_formula:
        return place + 1
    if token.text.lower() in _LABELS and cursor.is_number(1):
        return place + 2
    attached = not any(one.after_blank for one in tokens[place + 1 : place + 3])
    named = len(token.text) > 1 and cursor.is_sign("-", ahead=1) and cursor.is_number(2)
    return place + 3 if named and attached else place + 1


def _is_label(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the number at a token only labels its line, as in `2. Add them`."""
    if (
        tokens[place].kind != "number"
        or (place > 0 and tokens[place - 1].text != "\n")
        or place + 2 >= len(tokens)
    ):
        return False
    dot, after = tokens[place + 1], tokens[place + 2]
    return dot.text in (".", ")") and not dot.after_blank and after.after_blank and after.text != "\n"


def _continues_letters(tokens: Sequence[Token], place: int) -> bool:
    """Return True if the token is an arithmetic sign after a single letter, as in x + 5."""
    if place == 0 or tokens[place].kind != "sign" or tokens[place].text not in "+-×/^":
        return False
    before = tokens[place - 1]
    return before.kind == "word" and len(before.text) == 1 and before.text not in "aAI"


def _extended(tokens: Sequence[Token], item: Item, words: bool) -> Item:
    """Return the item extended by what is joined to it: a smaller unit, or the rest of a range or list."""
    cursor = Cursor(tokens, item.last)
    token = cursor.peek()
    if token is None:
        return item
    if (
        token.kind == "dots"
        and not token.after_blank
        and isinstance(item.value, Quantity)
        and not item.value.is_whole
    ):
        return Item("a number whose digits go on", item.first, item.last + 1)
    if token.text == "_":
        braced = cursor.is_sign("{", ahead=1)
        return Item(
            "a number in another base", item.first, min(item.last + (4 if braced else 2), len(tokens))
        )
    if cursor.is_word(*TIME_SUFFIXES):
        return Item(_KINDS["time"], item.first, item.last + 1)
    if cursor.is_word("and") and cursor.is_word("a", ahead=1) and cursor.is_word(*FRACTION_WORDS, ahead=2):
        return _and_a_part(tokens, item)
    smaller = _with_smaller_unit(tokens, item)
    if smaller is not None:
        return smaller
    while (more := joined_kind(Cursor(tokens, item.last), words)) is not None:
        item = Item(more[0], item.first, more[1])
    return item


def _and_a_part(tokens: Sequence[Token], item: Item) -> Item:
    part = Fraction(1, FRACTION_WORDS[tokens[item.last + 2].text.lower()])
    value = (
        Quantity(item.value.value + part, unit=item.value.unit)
        if isinstance(item.value, Quantity)
        else item.value
    )
    return Item(value, item.first, item.last + 3)


def _with_smaller_unit(tokens: Sequence[Token], item: Item) -> Item | None:
    """Return an item and the amount in a smaller unit after it (2 hours and 30 minutes) as one item.

    None if no such amount follows.
    """
    if not isinstance(item.value, Quantity) or item.value.unit is None:
        return None
    cursor = Cursor(tokens, item.last)
    cursor.place += cursor.is_word("and") or cursor.is_sign(",")
    found = read_expression(tokens, cursor.place) if cursor.is_number() else None
    if found is None or not isinstance(found[0], Quantity) or found[0].unit is None:
        return None
    unit, smaller = item.value.unit, found[0].unit
    if not unit.is_convertible_to(smaller) or smaller.factor >= unit.factor:
        return None
    return Item(add(item.value, found[0], 1), item.first, found[1])
