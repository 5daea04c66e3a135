"""Reader of amounts, and of several numbers that form one item: ranges, lists, ratios, tuples."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.scorers.numbers.arithmetic import ExpressionValue
from benchwright.scorers.numbers.cursor import TokenCursor
from benchwright.scorers.numbers.digits import read_digits
from benchwright.scorers.numbers.expressions import MAX_NESTING, read_expression
from benchwright.scorers.numbers.number_words import read_number_words
from benchwright.scorers.numbers.numerals import NUMBER_LIST_KIND
from benchwright.scorers.numbers.quantity import Quantity
from benchwright.scorers.numbers.tokens import Token
from benchwright.scorers.numbers.units import CURRENCY_BY_SIGN, read_unit

RANGE_KIND = "a range"
TUPLE_KIND = "a tuple or an interval"
INEQUALITY_KIND = "an inequality"
_JOINING_WORDS = {
    "and": NUMBER_LIST_KIND,
    "or": NUMBER_LIST_KIND,
    "nor": NUMBER_LIST_KIND,
    "to": RANGE_KIND,
    "through": RANGE_KIND,
    "by": "dimensions",
}
_JOINING_SIGNS = {
    "–": RANGE_KIND,
    "—": RANGE_KIND,
    ":": "a ratio",
    "±": "a number with a margin",
    "&": NUMBER_LIST_KIND,
    **dict.fromkeys("<>≤≥≠", INEQUALITY_KIND),
}
_ENDS = ("\n", ".", ")", "]", "}", "!", "?", ";")
MAX_WORDS_LENGTH = 12
MAX_TUPLE_LENGTH = 200
"""Maximum number of tokens of a tuple. A longer tuple is not recognised."""


def read_amount(tokens: Sequence[Token], place: int, words: bool) -> tuple[ExpressionValue, int] | None:
    """Return the tuple, expression or number in words at a position, and the position after it.

    Return None if none of them begins there. If brackets are nested too deeply, only the inner ones are read.
    """
    if place >= len(tokens) or (_opens(tokens, place) and _opens(tokens, place + MAX_NESTING)):
        return None
    end = _tuple_end(tokens, place)
    if end is not None:
        return TUPLE_KIND, end
    return read_expression(tokens, place) or (_number_words(tokens, place) if words else None)


def _tuple_end(tokens: Sequence[Token], place: int) -> int | None:
    """Return the position after a tuple, set or interval. Return None if none of them begins here."""
    if not _opens(tokens, place) or _opens(tokens, place + 2):
        return None
    cursor = TokenCursor(tokens, place + 1)
    signed = cursor.is_sign("-", "+")
    inner = cursor.peek(signed)
    if inner is not None and inner.kind == "number" and "," in inner.text and "." not in inner.text:
        found = read_digits(inner.text)
        if (found is None or not found[1]) and cursor.is_sign(")", "]", ahead=1 + signed):
            return place + 3 + signed
    first = read_expression(tokens, place + 1)
    if first is None:
        return None
    cursor.place = first[1]
    if not cursor.is_sign(",", ";"):
        return None
    while (token := cursor.peek()) is not None and token.text not in (")", "]", "\n"):
        if (token.kind == "word" and len(token.text) > 2) or cursor.place > place + MAX_TUPLE_LENGTH:
            return None
        cursor.place += 1
    return cursor.place + 1 if cursor.is_sign(")", "]") else None


def _number_words(tokens: Sequence[Token], place: int) -> tuple[ExpressionValue, int] | None:
    if tokens[place].kind != "word":
        return None
    negative = tokens[place].text.lower() in ("minus", "negative")
    begin = place + negative
    found = read_number_words([token.text.lower() for token in tokens[begin : begin + MAX_WORDS_LENGTH]])
    if found is None:
        return None
    cursor = TokenCursor(tokens, begin + found[1])
    value = -found[0] if negative else found[0]
    return Quantity(value, value.denominator == 1, read_unit(cursor)), cursor.place


def read_joined_kind(cursor: TokenCursor, words: bool) -> tuple[str, int] | None:
    """Return the kind of item that a number forms with the tokens after it (range, list, …), and the position after it.

    Return None if nothing is joined to the number.
    """
    token, after = cursor.peek(), cursor.peek(1)
    if token is None:
        return None
    if token.text in (",", ";") and token.kind == "sign":
        return _rest_of_list(cursor, words)
    if token.kind == "word":
        kind = _JOINING_WORDS.get(token.text.lower())
        if cursor.is_word("out") and cursor.is_word("of", ahead=1):
            kind, cursor.place = "a share", cursor.place + 1
    else:
        kind = _JOINING_SIGNS.get(token.text)
        if token.text == "-" and after is not None and not token.is_in_formula:
            money = after.kind == "sign" and after.text in CURRENCY_BY_SIGN
            attached = not token.is_after_blank and not after.is_after_blank and after.kind == "number"
            kind = RANGE_KIND if money or attached else None
    if kind is None:
        return None
    found = read_amount(cursor.tokens, cursor.place + 1, words)
    return None if found is None else (kind, found[1])


def _rest_of_list(cursor: TokenCursor, words: bool) -> tuple[str, int] | None:
    """Return the kind "list" and the position after the list. Return None if the number begins no list.

    A list must end its clause: `In 2020, 18 came` is not a list.
    """
    while cursor.is_sign(",", ";"):
        cursor.place += 1
        cursor.place += cursor.is_word("and", "or")
        found = read_amount(cursor.tokens, cursor.place, words)
        if found is None:
            return None
        cursor.place = found[1]
        if cursor.is_word("and", "or") and (last := read_expression(cursor.tokens, cursor.place + 1)):
            cursor.place = last[1]
    token = cursor.peek()
    return (NUMBER_LIST_KIND, cursor.place) if token is None or token.text in _ENDS else None


def _opens(tokens: Sequence[Token], place: int) -> bool:
    return place < len(tokens) and tokens[place].text in ("(", "[") and tokens[place].kind == "sign"
