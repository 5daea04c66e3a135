"""Choice of the main number of a sentence: the number at its beginning, otherwise its last main number.

Numbers in circumstances (`in 30 days`) are not main numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from benchwright.scorers.numbers.number_items import TIME_KINDS, NumberItem
from benchwright.scorers.numbers.number_words import word_set
from benchwright.scorers.numbers.quantity import Quantity
from benchwright.scorers.numbers.tokens import Token

MAX_SENTENCE_NUMBERS = 30
"""Maximum number of numbers in a sentence that are examined. If there are more, only the last ones are examined."""

_DECORATIONS = word_set(
    "about approximately roughly exactly around nearly almost only just simply therefore thus so hence is are "
    "equals equal to be the approx circa now then indeed actually clearly number value total fact answer final "
    "of a an sum it that"
)
_CIRCUMSTANCES = word_set("in for after within over during every per from before until since than")
_BETWEEN = word_set("the a an all each another about only just first last next these those")
_MOMENTS = word_set("in at on by from before until since after")
_CONDITIONS = frozenset({"if", "when", "because"})
_NEEDS = word_set("need needs has have had want wants able going supposed required likely used")
_NOT = frozenset({"not", "never"})


def skip_decorations(tokens: Sequence[Token]) -> int:
    """Return the position after words and signs that often precede an answer's number, such as `about` and `=`."""
    place = 0
    while place < len(tokens):
        token = tokens[place]
        word = token.kind == "word" and token.text.lower() in _DECORATIONS
        sign = token.kind in ("sign", "group") and token.text in "\n:=≈~*\"'“”,>|{"
        if not word and not sign:
            break
        place += 1
    return place


def sentence_end(tokens: Sequence[Token], begin: int) -> int:
    """Return the end of a sentence that begins at a token: the position of its final punctuation or line end."""
    for place in range(begin, len(tokens)):
        token = tokens[place]
        ends = token.text in (".", "!", "?") and (
            place + 1 == len(tokens) or tokens[place + 1].is_after_blank
        )
        if token.text == "\n" or (ends and not token.is_in_formula):
            return place
    return len(tokens)


def opening_item(tokens: Sequence[Token], items: Sequence[NumberItem]) -> NumberItem | None:
    """Return the number with which a text begins.

    If the text begins with an equation, return the number on the equation's last side.

    Return None if the text begins with words.
    """
    begin = skip_decorations(tokens)
    first = items[0]
    if first.first_token > begin and not _names_a_side(tokens[begin : first.first_token]):
        return None
    chosen, unfinished = first, False
    for before, item in pairwise(items):
        between = tokens[before.end_token : item.first_token]
        if not between or not _is_plain(between) or between[-1].text not in "=≈+-×/÷":
            break
        unfinished = between[-1].text not in "=≈"
        chosen = chosen if unfinished else item
    return NumberItem("a sum of amounts", first.first_token, items[-1].end_token) if unfinished else chosen


def _names_a_side(tokens: Sequence[Token]) -> bool:
    """Return True if the tokens are the left side of an equation and its equals sign: `x =`, `total cost =`."""
    return bool(tokens) and tokens[-1].text in ("=", "≈") and len(tokens) < 9 and _is_plain(tokens)


def _is_plain(tokens: Sequence[Token]) -> bool:
    """Return True if there are at most eight tokens, and none of them begins another clause."""
    clause = {"because", "since", "as", "which", "where", "if", "when", "so", "and", ",", ";", "."}
    return len(tokens) < 9 and not any(token.text.lower() in clause for token in tokens)


def clause_item(tokens: Sequence[Token], items: Sequence[NumberItem]) -> NumberItem:
    """Return the main number of a sentence: the only number in bold type, otherwise the last number.

    Numbers in remarks in brackets, denials, circumstances (`in 30 days`) and purposes are ignored, as long as
    another number remains.
    """
    left = list(items[-MAX_SENTENCE_NUMBERS:])
    for is_left_out in (_is_remark, _is_denied, _is_circumstance, _is_purpose):
        left = [item for item in left if not is_left_out(tokens, item)] or left
    bold = [item for item in left if tokens[item.first_token].is_bold]
    return bold[0] if len(bold) == 1 and len(left) > 1 else left[-1]


def _is_remark(tokens: Sequence[Token], item: NumberItem) -> bool:
    """Return True if an item is in round brackets that enclose a remark. Brackets of an expression do not count."""
    depth = 0
    for place in range(item.first_token - 1, -1, -1):
        depth += (tokens[place].text == ")") - (tokens[place].text == "(")
        if depth < 0:
            closed = any(token.text == ")" for token in tokens[item.end_token :])
            return (
                closed
                and tokens[place].is_after_blank
                and place > 0
                and tokens[place - 1].text not in "=≈+-×/"
            )
    return False


def _is_denied(tokens: Sequence[Token], item: NumberItem) -> bool:
    before = [token.text.lower() for token in tokens[max(0, item.first_token - 2) : item.first_token]]
    return bool(before) and (before[-1] in _NOT or before in (["rather", "than"], ["instead", "of"]))


def _is_circumstance(tokens: Sequence[Token], item: NumberItem) -> bool:
    """Return True if an item is a time, duration or condition, as in `in 30 days`.

    A price is not a circumstance, as in `for $5`.
    """
    place = item.first_token - 1
    while place >= 0 and tokens[place].text.lower() in _BETWEEN:
        place -= 1
    if item.value in TIME_KINDS:
        return place >= 0 and tokens[place].text.lower() in _MOMENTS
    words = [token.text.lower() for token in tokens[: item.first_token]]
    condition = max((at for at, word in enumerate(words) if at and word in _CONDITIONS), default=len(words))
    if condition < len(words) and not {"then", ",", "="} & set(words[condition:]):
        return True
    if place < 0 or tokens[place].text.lower() not in _CIRCUMSTANCES:
        return False
    unit = item.value.unit if isinstance(item.value, Quantity) else None
    return not (tokens[place].text.lower() == "for" and unit is not None and "dollar" in unit.dimensions)


def _is_purpose(tokens: Sequence[Token], item: NumberItem) -> bool:
    """Return True if an item belongs to a purpose (`25 passes to save $2`) or to a means (`64 by adding 15`)."""
    if item.first_token < 2:
        return False
    before, verb = tokens[item.first_token - 2].text.lower(), tokens[item.first_token - 1].text.lower()
    if before == "by":
        return verb.endswith("ing")
    needed = tokens[item.first_token - 3].text.lower() if item.first_token > 2 else ""
    return before == "to" and verb.isalpha() and verb not in _DECORATIONS | _BETWEEN and needed not in _NEEDS
