"""Choice of the number that counts in an answer. docs/scorers.md states the rule."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.scorers.numbers.answer_marks import (
    BOX,
    STATEMENT,
    TAG,
    AnswerMark,
    answer_end,
    find_answer_marks,
    last_correction_end,
)
from benchwright.scorers.numbers.number_items import NumberItem, find_number_items, read_item
from benchwright.scorers.numbers.quantity import NOTHING_READ_KIND, NumberReading, Quantity
from benchwright.scorers.numbers.sentences import clause_item, opening_item, sentence_end, skip_decorations
from benchwright.scorers.numbers.tokens import Token, tokens_of

SEVERAL_NUMBERS_KIND = "several numbers"
MAX_SEARCH_CHARACTERS = 4_000
"""Maximum number of characters of a line or statement that are searched for a number.

Of a longer line, only the end is searched. Of a longer statement, only the beginning after its verb is
searched.
"""

MAX_EXAMINED_MARKS = 30
"""Maximum number of marked answers of a text that are examined. The last ones are examined first."""

_DECLINED = re.compile(
    r"[\s:*_]*(?:(?:it|this|that)\s(?:is\s)?)?(?:not\sgiven|unknown|undefined|undetermined|impossible|none\b|not\spossible|cannot\b"
    r"|can['\u2019]t\b|indeterminate|n/a\b)",
    re.IGNORECASE,
)
_CLOSE = 0.01


def read_number_of_answer(text: str) -> NumberReading | None:
    """Return the number that counts in an answer, or the kind of another result (a date, a range, …).

    Return None if the answer contains nothing like a number.
    """
    marks = find_answer_marks(text)
    text = text[: answer_end(text, marks)]
    marks = [mark for mark in marks if mark.start < len(text)]
    for mark in reversed(marks[-MAX_EXAMINED_MARKS:]):
        reading = _marked(text, mark)
        if reading is None:
            continue
        after = last_correction_end(text, mark.start if mark.kind == STATEMENT else mark.end)
        return reading if after is None else _last_line(text[after:])
    return None if any(mark.kind == STATEMENT for mark in marks) else _last_line(text)


def read_number_of_gold_answer(text: str) -> NumberReading:
    """Return the one number of a gold answer, or the kind of another result: several numbers, a date, no number, ….

    If a solution has a mark (`#### 18`), the number is read there. In an equation, the last side counts.
    """
    for mark in reversed(find_answer_marks(text)[-MAX_EXAMINED_MARKS:]):
        reading = _marked(text, mark)
        if reading is not None:
            return reading
    tokens = tokens_of(text)
    items = [item for item in find_number_items(tokens, words=True) if not item.is_ordinal]
    if not items:
        return NumberReading(text.strip(), (), NOTHING_READ_KIND)
    if len(items) > 1 and not _is_equation(tokens, items):
        return NumberReading(text.strip(), (), SEVERAL_NUMBERS_KIND)
    return _reading(text, tokens, items, items[-1])


def _is_equation(tokens: Sequence[Token], items: Sequence[NumberItem]) -> bool:
    """Return True if each number except the first follows an equals sign (= or ≈)."""
    return all(tokens[item.first_token - 1].text in ("=", "≈") for item in items[1:])


def _marked(text: str, mark: AnswerMark) -> NumberReading | None:
    piece = text[mark.start : mark.end]
    if mark.kind == STATEMENT:
        return _stated(piece)
    tokens = tokens_of(piece[:MAX_SEARCH_CHARACTERS], math=mark.kind == BOX)
    items = find_number_items(tokens) or find_number_items(tokens, words=True)
    if items:
        return _reading(piece, tokens, items, opening_item(tokens, items) or clause_item(tokens, items))
    return NumberReading(piece.strip(), (), NOTHING_READ_KIND) if mark.kind in (BOX, TAG) else None


def _stated(rest: str) -> NumberReading | None:
    """Return the number in a statement (`the answer is …`). Return None if the statement contains no number.

    `rest`: all the text after the statement's verb.
    """
    rest = rest[:MAX_SEARCH_CHARACTERS]
    if _DECLINED.match(rest):
        return NumberReading(rest.strip().split("\n")[0], (), NOTHING_READ_KIND)
    tokens = tokens_of(rest)
    begin = skip_decorations(tokens)
    end = sentence_end(tokens, begin)
    sentence = tokens[:end]
    items = find_number_items(sentence)
    if not items or (begin < end and items[0].first_token > begin and read_item(sentence, begin, words=True)):
        items = find_number_items(sentence, words=True)
    chosen = opening_item(sentence, items) if items else None
    if chosen is None and _goes_on(tokens[end:]):
        return _last_line(rest)
    if not items:
        return None
    return _reading(rest, sentence, items, chosen or clause_item(sentence, items))


def _goes_on(tokens: Sequence[Token]) -> bool:
    """Return True if numbers follow a statement's first sentence. `tokens`: the tokens after that sentence.

    If so, the text after the verb is a reasoning rather than the answer.
    """
    return bool(find_number_items(tokens[:400]))


def _last_line(text: str) -> NumberReading | None:
    """Return the number of the last line that has a number. Within the line, the last sentence with a number counts.

    Number words count only if no line has a number in digits. Return None if no line has a number.
    """
    for words in (False, True):
        for line in reversed(text.split("\n")):
            reading = _line(line[-MAX_SEARCH_CHARACTERS:], words) if line.strip() else None
            if reading is not None:
                return reading
    return None


def _line(line: str, words: bool) -> NumberReading | None:
    tokens = tokens_of(line)
    items = [item for item in find_number_items(tokens, words=words) if not item.is_ordinal]
    if not items or (words and _only_one(items)):
        return None
    begin = end = 0
    while end <= items[-1].first_token:
        begin, end = end, sentence_end(tokens, end) + 1
    last = [
        item._replace(first_token=item.first_token - begin, end_token=item.end_token - begin)
        for item in items
        if item.first_token >= begin
    ]
    sentence = tokens[begin : max(end, items[-1].end_token)]
    return _reading(line, sentence, last, clause_item(sentence, last))


def _only_one(items: Sequence[NumberItem]) -> bool:
    """Return True if the value of every number is 1. The word "one" is hardly ever meant as a number."""
    return all(isinstance(item.value, Quantity) and item.value.value == 1 for item in items)


def _reading(
    text: str, tokens: Sequence[Token], items: Sequence[NumberItem], item: NumberItem
) -> NumberReading:
    span = text[tokens[item.first_token].start : tokens[item.end_token - 1].end]
    if not isinstance(item.value, Quantity):
        return NumberReading(span, (), item.value)
    quantities: tuple[Quantity, ...] = (item.value,)
    before = items[items.index(item) - 1] if items.index(item) else None
    if before is not None and isinstance(before.value, Quantity) and _is_rounded(tokens, before, item):
        one, other = before.value, item.value
        if (
            abs(one.value_in_base_units - other.value_in_base_units)
            <= abs(other.value_in_base_units) * _CLOSE
        ):
            quantities = (item.value, before.value)
    return NumberReading(span, quantities)


def _is_rounded(tokens: Sequence[Token], before: NumberItem, item: NumberItem) -> bool:
    between = tokens[before.end_token : item.first_token]
    return bool(between) and between[0].text == "≈" and len(between) < 4
