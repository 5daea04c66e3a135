"""The rules of IFBench that count: words, names, numbers, punctuation marks, keywords, and shares."""

from __future__ import annotations

import re

from benchwright.catalog.ifbench.text_cleaning import strip_punctuation, without_punctuation
from benchwright.catalog.ifbench.vocabulary import CONJUNCTIONS, PERSON_NAMES, STOP_WORDS
from benchwright.catalog.ifeval.rules import Rules

COUNTING_RULES = Rules()

_rule = COUNTING_RULES.register_rule

_WORD = re.compile(r"\w+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")


@_rule("count:word_count_range")
def has_word_count_in_range(response: str, min_words: float, max_words: float) -> bool:
    r"""Check that the number of words (runs of `\w`) is in the range. "don't" counts as two words."""
    return min_words <= len(_WORD.findall(response)) <= max_words


@_rule("count:unique_word_count")
def has_unique_words(response: str, N: float) -> bool:
    """Check for at least N different words, ignoring case. A word that consists of punctuation counts too."""
    return len({strip_punctuation(word) for word in response.lower().split()}) >= N


@_rule("count:conjunctions")
def has_conjunctions(response: str, small_n: float) -> bool:
    """Check for at least `small_n` different conjunctions. "and", "And" and "and," count as three different ones."""
    return (
        len({word for word in response.split() if strip_punctuation(word).lower() in CONJUNCTIONS}) >= small_n
    )


@_rule("count:person_names")
def has_person_names(response: str, N: float) -> bool:
    """Check for at least N of the 50 names in `PERSON_NAMES`, as whole words in their exact case."""
    return sum(1 for name in PERSON_NAMES if re.search(rf"\b{name}\b", response)) >= N


@_rule("count:numbers")
def has_number_count(response: str, N: float) -> bool:
    """Check for exactly N runs of digits.

    Punctuation is removed first, so that "10:30" and "1,000" are one run each.
    """
    return len(re.findall(r"\d+", without_punctuation(response))) == N


@_rule("count:punctuation")
def has_punctuation(response: str) -> bool:
    """Check that each of . , ! ? ; : occurs, and that an interrobang occurs, too."""
    if not any(mark in response for mark in ("!?", "?!", "‽")):
        return False
    pair = "?!" if "?!" in response else "!?"
    rest = response.replace(pair, "", 1)
    return all(mark in rest for mark in ".,!?;:")


@_rule("count:words_japanese")
def has_japanese_words(response: str, N: float) -> bool:
    """Check that every Nth word contains a Japanese character.

    Numbers pass, too. So do words that consist of punctuation.
    """
    every = [strip_punctuation(word) for number, word in enumerate(response.split(), 1) if number % N == 0]
    return all(_JAPANESE.search(word) for word in every if word and not word.isdigit())


@_rule("count:keywords_multiple")
def has_keyword_counts(
    response: str, keyword1: str, keyword2: str, keyword3: str, keyword4: str, keyword5: str
) -> bool:
    """Check that the five keywords occur 1, 2, 3, 5 and 7 times, in the order of the parameters, ignoring case.

    Occurrences within words count.
    """
    wanted = zip((keyword1, keyword2, keyword3, keyword4, keyword5), (1, 2, 3, 5, 7), strict=True)
    text = response.lower()
    return all(text.count(keyword.strip().lower()) == times for keyword, times in wanted)


@_rule("ratio:stop_words")
def limits_stop_words(response: str, percentage: float) -> bool:
    r"""Check that at most `percentage` percent of the words (runs of `\w`) are stop words."""
    words = _WORD.findall(response)
    found = sum(word.lower() in STOP_WORDS for word in words)
    return bool(words) and found / len(words) * 100 <= percentage


@_rule("ratio:overlap")
def has_overlap(response: str, reference_text: str, percentage: float) -> bool:
    """Check that `percentage` ± 2 of the response's character trigrams also occur in the reference text."""
    own, reference = trigrams(response), trigrams(reference_text)
    share = len(own & reference) / len(own) * 100 if own else None
    return share is not None and percentage - 2 <= share <= percentage + 2


def trigrams(text: str) -> set[str]:
    """Return the set of the text's character trigrams."""
    return {text[start : start + 3] for start in range(len(text) - 2)}
