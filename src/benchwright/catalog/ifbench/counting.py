"""The rules that count: words, names, numbers, marks, keywords, and shares."""

from __future__ import annotations

import re

from benchwright.catalog.ifbench.texts import trimmed, without_marks
from benchwright.catalog.ifbench.vocabulary import CONJUNCTIONS, NAMES, STOP_WORDS
from benchwright.catalog.ifeval.rules import Rules

COUNTING = Rules()

_rule = COUNTING.rule

_WORD = re.compile(r"\w+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@_rule("count:word_count_range")
def word_count_range(response: str, min_words: float, max_words: float) -> bool:
    r"""Check that the number of runs of `\w` is in the range: "don't" has two."""
    return min_words <= len(_WORD.findall(response)) <= max_words


@_rule("count:unique_word_count")
def unique_word_count(response: str, N: float) -> bool:
    """Check for at least N different words, in lower case. A word of marks only counts, too."""
    return len({trimmed(word) for word in response.lower().split()}) >= N


@_rule("count:conjunctions")
def conjunctions(response: str, small_n: float) -> bool:
    """Check for at least that many different conjunctions. "and", "And" and "and," are three."""
    return len({word for word in response.split() if trimmed(word).lower() in CONJUNCTIONS}) >= small_n


@_rule("count:person_names")
def person_names(response: str, N: float) -> bool:
    """Check for at least N of the 50 names, in their case, as whole words."""
    return sum(1 for name in NAMES if re.search(rf"\b{name}\b", response)) >= N


@_rule("count:numbers")
def numbers(response: str, N: float) -> bool:
    """Check for exactly N runs of digits after marks are removed: "10:30" and "1,000" are one each."""
    return len(re.findall(r"\d+", without_marks(response))) == N


@_rule("count:punctuation")
def punctuation(response: str) -> bool:
    """Check for an interrobang and, besides it, each of . , ! ? ; :"""
    if not any(mark in response for mark in ("!?", "?!", "‽")):
        return False
    pair = "?!" if "?!" in response else "!?"
    rest = response.replace(pair, "", 1)
    return all(mark in rest for mark in ".,!?;:")


@_rule("count:words_japanese")
def words_japanese(response: str, N: float) -> bool:
    """Check that every Nth word has a Japanese character, unless it is a number or only marks."""
    every = [trimmed(word) for number, word in enumerate(response.split(), 1) if number % N == 0]
    return all(_JAPANESE.search(word) for word in every if word and not word.isdigit())


@_rule("count:keywords_multiple")
def keywords_multiple(
    response: str, keyword1: str, keyword2: str, keyword3: str, keyword4: str, keyword5: str
) -> bool:
    """Check that the keywords occur 1, 2, 3, 5 and 7 times, in any case, also within words."""
    wanted = zip((keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7), strict=True)
    text = response.lower()
    return all(text.count(keyword.strip().lower()) == times for keyword, times in wanted)


@_rule("ratio:stop_words")
def stop_words(response: str, percentage: float) -> bool:
    r"""Check that at most this percentage of the runs of `\w` are stop words."""
    words = _WORD.findall(response)
    found = sum(word.lower() in STOP_WORDS for word in words)
    return bool(words) and found / len(words) * 100 <= percentage


@_rule("ratio:overlap")
def overlap(response: str, reference_text: str, percentage: float) -> bool:
    """Check that this percentage of the response's character trigrams, ± 2, also occur in the reference."""
    own, reference = trigrams(response), trigrams(reference_text)
    share = len(own & reference) / len(own) * 100 if own else None
    return share is not None and percentage - 2 <= share <= percentage + 2


def trigrams(text: str) -> set[str]:
    """Return all runs of three characters."""
    return {text[start : start + 3] for start in range(len(text) - 2)}
