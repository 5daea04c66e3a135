"""What an answer comes to: which of its numbers counts. docs/scorers.md states the rule."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from benchwright.scorers.numbers.items import Item, item_at, items_of
from benchwright.scorers.numbers.marks import (
    BOX,
    STATEMENT,
    TAG,
    Mark,
    marks_of,
    retraction,
    without_further_questions,
)
from benchwright.scorers.numbers.quantity import Quantity, Reading
from benchwright.scorers.numbers.tokens import Token, tokens_of

SEVERAL = "several numbers"
LONGEST = 4_000
"""Characters of a line that are searched, its last ones, and of a statement, its first ones."""

MOST = 30
"""Marks, and numbers of a sentence, that are looked at: the last ones."""

_DECORATIONS = frozenset(
    "about approximately roughly exactly around nearly almost only just simply therefore thus so hence is are equals "
    "equal to be the approx circa now then indeed actually clearly number value total in fact number answer final "
    "of a an sum it that".split()
)
_CIRCUMSTANCES = frozenset("in for after within over during every per from before until since than".split())
_BETWEEN = frozenset("the a an all each another about only just first last next these those".split())
_CONDITIONS = frozenset({"if", "when", "because"})
_NEEDS = frozenset("need needs has have had want wants able going supposed required likely used".split())
_DECLINED = re.compile(
    r"[\s:*_]*(?:(?:it|this|that)\s(?:is\s)?)?(?:not\sgiven|unknown|undefined|undetermined|impossible|none\b|not\spossible|cannot\b"
    r"|can['\u2019]t\b|indeterminate|n/a\b)",
    re.IGNORECASE,
)
_NOT = frozenset({"not", "never"})
_CLOSE = 0.01


def read_answer(text: str) -> Reading | None:
    """Return what an answer comes to; None if it has nothing like a number where it counts."""
    text = without_further_questions(text)
    for mark in reversed(marks_of(text)[-MOST:]):
        reading = _marked(text, mark)
        if reading is None:
            continue
        after = retraction(text, mark.start if mark.kind == STATEMENT else mark.end)
        return reading if after is None else _last_line(text[after:])
    if any(mark.kind == STATEMENT for mark in marks_of(text)):
        return None
    return _last_line(text)


def read_gold(text: str) -> Reading:
    """Return the one number of a gold answer, or what it is instead: several numbers, a date, no number, ….

    A solution that ends with a mark (`#### 18`) has the number there. Of an equation the last side counts.
    """
    for mark in reversed(marks_of(text)[-MOST:]):
        reading = _marked(text, mark)
        if reading is not None:
            return reading
    tokens = tokens_of(text)
    items = [item for item in items_of(tokens, words=True) if not item.is_ordinal]
    if not items:
        return Reading(text.strip(), (), "no number")
    if len(items) > 1 and not _is_equation(tokens, items):
        return Reading(text.strip(), (), SEVERAL)
    return _reading(text, tokens, items, items[-1])


def _is_equation(tokens: Sequence[Token], items: Sequence[Item]) -> bool:
    """Whether each number but the first stands behind a sign of equality."""
    return all(tokens[item.first - 1].text in ("=", "≈") for item in items[1:])


def _marked(text: str, mark: Mark) -> Reading | None:
    piece = text[mark.start : mark.end]
    if mark.kind == STATEMENT:
        return _stated(piece)
    tokens = tokens_of(piece[:LONGEST], math=mark.kind == BOX)
    items = items_of(tokens) or items_of(tokens, words=True)
    if items:
        return _reading(piece, tokens, items, _begun(tokens, items) or _clause_item(tokens, items))
    return Reading(piece.strip(), (), "no number") if mark.kind in (BOX, TAG) else None


def _stated(rest: str) -> Reading | None:
    """What a statement says, of which `rest` is all that follows its verb."""
    rest = rest[:LONGEST]
    if _DECLINED.match(rest):
        return Reading(rest.strip().split("\n")[0], (), "no number")
    tokens = tokens_of(rest)
    begin = _behind_decorations(tokens)
    end = _sentence_end(tokens, begin)
    sentence = tokens[:end]
    items = items_of(sentence)
    if not items or (begin < end and items[0].first > begin and item_at(sentence, begin, words=True)):
        items = items_of(sentence, words=True)
    chosen = _begun(sentence, items) if items else None
    if chosen is None and _goes_on(tokens[end:]):
        return _last_line(rest)
    if not items:
        return None
    return _reading(rest, sentence, items, chosen or _clause_item(sentence, items))


def _goes_on(tokens: Sequence[Token]) -> bool:
    """Whether there are more numbers behind the first sentence: it then began to reason, and did not answer."""
    return bool(items_of(tokens[:400]))


def _behind_decorations(tokens: Sequence[Token]) -> int:
    place = 0
    while place < len(tokens):
        token = tokens[place]
        word = token.kind == "word" and token.text.lower() in _DECORATIONS
        sign = token.kind in ("sign", "group") and token.text in "\n:=≈~*\"'“”,>|{"
        if not word and not sign:
            break
        place += 1
    return place


def _sentence_end(tokens: Sequence[Token], begin: int) -> int:
    """The place behind the sentence that begins at a token."""
    for place in range(begin, len(tokens)):
        token = tokens[place]
        ends = token.text in (".", "!", "?") and (place + 1 == len(tokens) or tokens[place + 1].after_blank)
        if token.text == "\n" or (ends and not token.math):
            return place
    return len(tokens)


def _begun(tokens: Sequence[Token], items: Sequence[Item]) -> Item | None:
    """The number that a text begins with, or that of the last side of the equation that it begins with."""
    begin = _behind_decorations(tokens)
    first = items[0]
    if first.first > begin and not _names_a_side(tokens[begin : first.first]):
        return None
    chosen, unfinished = first, False
    for before, item in pairwise(items):
        between = tokens[before.last : item.first]
        if not between or not _is_plain(between) or between[-1].text not in "=≈+-×/÷":
            break
        unfinished = between[-1].text not in "=≈"
        chosen = chosen if unfinished else item
    return Item("a sum of amounts", first.first, items[-1].last) if unfinished else chosen


def _names_a_side(tokens: Sequence[Token]) -> bool:
    """Whether tokens are the left side of an equation, as in `x =` and `total cost =`."""
    return bool(tokens) and tokens[-1].text in ("=", "≈") and len(tokens) < 9 and _is_plain(tokens)


def _is_plain(tokens: Sequence[Token]) -> bool:
    """Whether tokens are but a few words and signs, none of which begins another clause."""
    clause = {"because", "since", "as", "which", "where", "if", "when", "so", "and", ",", ";", "."}
    return len(tokens) < 9 and not any(token.text.lower() in clause for token in tokens)


def _last_line(text: str) -> Reading | None:
    """The number that the last sentence with one comes to, of the last line with one; number words as a last resort."""
    for words in (False, True):
        for line in reversed(text.split("\n")):
            reading = _line(line[-LONGEST:], words) if line.strip() else None
            if reading is not None:
                return reading
    return None


def _line(line: str, words: bool) -> Reading | None:
    tokens = tokens_of(line)
    items = [item for item in items_of(tokens, words=words) if not item.is_ordinal]
    if not items or (words and _only_one(items)):
        return None
    begin = end = 0
    while end <= items[-1].first:
        begin, end = end, _sentence_end(tokens, end) + 1
    last = [
        item._replace(first=item.first - begin, last=item.last - begin)
        for item in items
        if item.first >= begin
    ]
    sentence = tokens[begin : max(end, items[-1].last)]
    return _reading(line, sentence, last, _clause_item(sentence, last))


def _only_one(items: Sequence[Item]) -> bool:
    """Whether there is only the word "one", which is hardly ever a number."""
    return all(isinstance(item.value, Quantity) and item.value.value == 1 for item in items)


def _clause_item(tokens: Sequence[Token], items: Sequence[Item]) -> Item:
    """The number that a sentence comes to: its last one, without remarks in brackets, what is denied, and
    circumstances (`in 30 days`), as long as one is left; if just one is in bold type, that one."""
    left = list(items[-MOST:])
    for is_left_out in (_is_remark, _is_denied, _is_circumstance, _is_purpose):
        left = [item for item in left if not is_left_out(tokens, item)] or left
    bold = [item for item in left if tokens[item.first].bold]
    return bold[0] if len(bold) == 1 and len(left) > 1 else left[-1]


def _is_remark(tokens: Sequence[Token], item: Item) -> bool:
    """Whether an item stands in round brackets that are no part of an expression."""
    depth = 0
    for place in range(item.first - 1, -1, -1):
        depth += (tokens[place].text == ")") - (tokens[place].text == "(")
        if depth < 0:
            closed = any(token.text == ")" for token in tokens[item.last :])
            return (
                closed and tokens[place].after_blank and place > 0 and tokens[place - 1].text not in "=≈+-×/"
            )
    return False


def _is_denied(tokens: Sequence[Token], item: Item) -> bool:
    before = [token.text.lower() for token in tokens[max(0, item.first - 2) : item.first]]
    return bool(before) and (before[-1] in _NOT or before in (["rather", "than"], ["instead", "of"]))


def _is_circumstance(tokens: Sequence[Token], item: Item) -> bool:
    """Whether an item says when, for how long or on what condition, as in `in 30 days`; `for $5` is a price."""
    place = item.first - 1
    while place >= 0 and tokens[place].text.lower() in _BETWEEN:
        place -= 1
    words = [token.text.lower() for token in tokens[: item.first]]
    condition = max((at for at, word in enumerate(words) if at and word in _CONDITIONS), default=len(words))
    if condition < len(words) and not {"then", ","} & set(words[condition:]):
        return True
    if place < 0 or tokens[place].text.lower() not in _CIRCUMSTANCES:
        return False
    unit = item.value.unit if isinstance(item.value, Quantity) else None
    return not (tokens[place].text.lower() == "for" and unit is not None and "dollar" in unit.dimensions)


def _is_purpose(tokens: Sequence[Token], item: Item) -> bool:
    """Whether an item says what for or how, as in `25 passes to save $2` and `64 by adding 15 and 49`."""
    if item.first < 2:
        return False
    before, verb = tokens[item.first - 2].text.lower(), tokens[item.first - 1].text.lower()
    if before == "by":
        return verb.endswith("ing")
    needed = tokens[item.first - 3].text.lower() if item.first > 2 else ""
    return before == "to" and verb.isalpha() and verb not in _DECORATIONS | _BETWEEN and needed not in _NEEDS


def _reading(text: str, tokens: Sequence[Token], items: Sequence[Item], item: Item) -> Reading:
    span = text[tokens[item.first].start : tokens[item.last - 1].end]
    if not isinstance(item.value, Quantity):
        return Reading(span, (), item.value)
    quantities: tuple[Quantity, ...] = (item.value,)
    before = items[items.index(item) - 1] if items.index(item) else None
    if before is not None and isinstance(before.value, Quantity) and _is_rounded(tokens, before, item):
        one, other = before.value, item.value
        if abs(one.in_base_units - other.in_base_units) <= abs(other.in_base_units) * _CLOSE:
            quantities = (item.value, before.value)
    return Reading(span, quantities)


def _is_rounded(tokens: Sequence[Token], before: Item, item: Item) -> bool:
    between = tokens[before.last : item.first]
    return bool(between) and between[0].text == "≈" and len(between) < 4
