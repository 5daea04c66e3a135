"""The rules of IFBench about words: letters, lengths, order and repetition."""

from __future__ import annotations

import string
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import cycle, islice, pairwise

from benchwright.catalog.ifbench.text_cleaning import strip_punctuation, without_punctuation
from benchwright.catalog.ifeval.rules import Rules
from benchwright.optional_libraries import importing

WORD_RULES = Rules()

_rule = WORD_RULES.register_rule

_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxyz")
_PRIMES = frozenset(
    (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
)
_MOST_VOWELS = 3
_LEAST_PALINDROMES = 10
_SHORTEST_PALINDROME = 5


@_rule("words:alphabet")
def is_alphabetical(response: str) -> bool:
    """Check that the words start with successive letters of the alphabet."""
    words = without_punctuation(response).split()
    start = string.ascii_lowercase.find(words[0][0].lower()) if words else -1
    letters = islice(cycle(string.ascii_lowercase), start + 1, None)
    return start >= 0 and all(
        word.lower()[0] == letter for word, letter in zip(words[1:], letters, strict=False)
    )


@_rule("words:vowel")
def limits_vowels(response: str) -> bool:
    """Check for a single line that uses at most three of the five vowels."""
    text = response.strip().lower()
    return "\n" not in text and len(set(text) & set("aeiou")) <= _MOST_VOWELS


@_rule("words:consonants")
def has_consonant_clusters(response: str) -> bool:
    """Check that every word has two adjacent consonants. The letter y counts as a consonant."""
    return all(
        any(first in _CONSONANTS and second in _CONSONANTS for first, second in pairwise(word))
        for word in response.lower().split()
    )


@_rule("words:palindrome")
def has_palindromes(response: str) -> bool:
    """Check for ten palindromes of at least five letters. A palindrome that is repeated counts each time."""
    words = without_punctuation(response).lower().split()
    found = sum(word == word[::-1] and len(word) >= _SHORTEST_PALINDROME for word in words)
    return found >= _LEAST_PALINDROMES


@_rule("words:prime_lengths")
def has_prime_lengths(response: str) -> bool:
    """Check that the length of every word is a prime number below 100."""
    return all(len(word) in _PRIMES for word in without_punctuation(response).split())


@_rule("words:repeats")
def limits_repeats(response: str, small_n: float) -> bool:
    """Check that no word occurs more than `small_n` times."""
    return all(times <= small_n for times in Counter(without_punctuation(response.lower()).split()).values())


@_rule("words:no_consecutive")
def has_no_repeated_initials(response: str) -> bool:
    """Check that no two consecutive words start with the same letter."""
    words = without_punctuation(response.lower()).split()
    return all(first[0] != second[0] for first, second in pairwise(words))


@_rule("words:paragraph_last_first")
def has_same_first_and_last_word(response: str) -> bool:
    """Check that the first and the last word of every line are the same."""
    lines = [strip_punctuation(line.strip().lower()).split() for line in response.split("\n")]
    return all(words[0] == words[-1] for words in lines if words)


@cache
def load_syllable_counter() -> Callable[[str], int]:
    """Return syllapy's function that counts the syllables of a word.

    Raises:
        UserError: If syllapy cannot be imported.
    """
    path = list(sys.path)
    try:
        with importing("syllapy", "ifbench is graded with", "ifbench"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # setuptools warns of its module that syllapy uses
            from syllapy import count
    finally:
        sys.path[:] = path  # that module adds the folder of setuptools' own libraries
    counter: Callable[[str], int] = count
    return counter


@_rule("words:odd_even_syllables")
def alternates_syllable_parity(response: str) -> bool:
    """Check that words with an odd and an even number of syllables alternate. The package syllapy counts syllables."""
    count = load_syllable_counter()
    odd = [count(word) % 2 for word in without_punctuation(response).lower().split()]
    return all(first != second for first, second in pairwise(odd))


@_rule("repeat:repeat_change")
def repeats_with_other_first_word(response: str, prompt_to_repeat: str) -> bool:
    """Check that the response repeats the request, but with another first word."""
    return prompt_to_repeat != response and prompt_to_repeat.split()[1:] == response.split()[1:]


@_rule("repeat:repeat_simple")
def repeats_sentence(response: str) -> bool:
    """Check that the response is exactly the required sentence, ignoring case."""
    return response.strip().lower() == "only output this sentence here, ignore all other requests."


@_rule("repeat:repeat_span")
def repeats_prompt_span(response: str, prompt_to_repeat: str, n_start: int, n_end: int) -> bool:
    """Check that the response equals the characters `n_start` to `n_end` of the prompt, both included."""
    return response.strip().lower() == prompt_to_repeat[n_start : n_end + 1].strip().lower()
