"""The rules of IFEval about wording: keywords, letters, language, case, and number of words."""

from __future__ import annotations

import re

from benchwright.catalog.ifeval.language_detection import detect_language
from benchwright.catalog.ifeval.rules import CountRelation, Rules, compare, compile_expression
from benchwright.catalog.ifeval.word_counting import count_words

WORDING_RULES = Rules()

_rule = WORDING_RULES.register_rule


@_rule("keywords:existence")
def has_keywords(response: str, keywords: list[str]) -> bool:
    """Check that all keywords occur, ignoring case.

    Keywords are regular expressions, and also match within words.
    """
    return all(count_occurrences(keyword, response, most=1) for keyword in keywords)


@_rule("keywords:frequency")
def has_keyword_frequency(response: str, keyword: str, frequency: int, relation: CountRelation) -> bool:
    """Check that the keyword occurs as often as required, ignoring case.

    The keyword is a regular expression, and also matches within words.
    """
    return compare(count_occurrences(keyword.strip(), response), relation, frequency)


@_rule("keywords:forbidden_words")
def avoids_words(response: str, forbidden_words: list[str]) -> bool:
    """Check that none of the words occurs as a whole word, ignoring case."""
    patterns = [rf"\b{compile_expression(word).pattern}\b" for word in forbidden_words]
    return not any(count_occurrences(pattern, response, most=1) for pattern in patterns)


@_rule("keywords:letter_frequency")
def has_letter_frequency(response: str, letter: str, let_frequency: int, let_relation: CountRelation) -> bool:
    """Check that the letter occurs as often as required, in either case.

    Two rows (keys 1122 and 1129) have `#` and `!` instead of a letter. For any character except a to z, the
    official code counts a letter drawn at random. Here the character itself is counted.
    """
    return compare(response.lower().count(letter.strip().lower()), let_relation, let_frequency)


@_rule("language:response_language")
def is_in_language(response: str, language: str) -> bool:
    """Check that the response is in the language. A response whose language cannot be detected passes."""
    return detect_language(response) in (language, None)


@_rule("change_case:english_capital")
def is_english_uppercase(response: str) -> bool:
    """Check that all letters are capitals and the detected language is English.

    Short texts in capitals are often detected as another language. The official code has the same flaw.
    """
    return response.isupper() and detect_language(response) in ("en", None)


@_rule("change_case:english_lowercase")
def is_english_lowercase(response: str) -> bool:
    """Check that no letter is a capital and the detected language is English."""
    return response.islower() and detect_language(response) in ("en", None)


@_rule("punctuation:no_comma")
def has_no_comma(response: str) -> bool:
    """Check that there is no ASCII comma."""
    return "," not in response


@_rule("length_constraints:number_words")
def has_word_count(response: str, num_words: int, relation: CountRelation) -> bool:
    """Check that the number of words has the required relation to `num_words`."""
    return compare(count_words(response), relation, num_words)


def count_occurrences(pattern: str, response: str, most: int | None = None) -> int:
    """Return how often a regular expression from a row occurs, ignoring case. Counting stops at `most`."""
    found = 0
    for _ in compile_expression(pattern, re.IGNORECASE).finditer(response):
        found += 1
        if found == most:
            break
    return found
