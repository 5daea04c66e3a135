"""The rules of IFBench about sentences. They work with any sentence splitter."""

from __future__ import annotations

import re
from itertools import pairwise
from string import ascii_lowercase

from benchwright.catalog.ifbench.text_cleaning import PUNCTUATION, without_punctuation
from benchwright.catalog.ifeval.rules import Rules
from benchwright.catalog.ifeval.splitters import SplitFunction


def sentence_rules(split: SplitFunction) -> Rules:
    """Return all rules about sentences. `split` divides a text into sentences."""
    return Rules({**_kinds(split).by_id, **_words(split).by_id, **_whole(split).by_id})


def _kinds(split: SplitFunction) -> Rules:
    """Return the rules about the ends of sentences (punctuation, emoji) and the lengths of sentences.

    `split` divides a text into sentences.
    """
    kinds = Rules()

    @kinds.register_rule("ratio:sentence_type")
    def sentence_type(response: str) -> bool:
        """Check that twice as many sentences end with a full stop as with a question mark.

        A response without either passes.
        """
        statements, questions, _ = _ends(split(response))
        return statements == 2 * questions

    @kinds.register_rule("ratio:sentence_balance")
    def sentence_balance(response: str) -> bool:
        """Check that equally many sentences end with a full stop, a question mark and an exclamation mark."""
        return len(set(_ends(split(response)))) == 1

    @kinds.register_rule("ratio:sentence_words")
    def sentence_words(response: str) -> bool:
        """Check for three sentences of the same length.

        The prompt also asks that the sentences use different words. This is not verified.
        """
        lengths = [len(sentence.strip()) for sentence in split(response)]
        return len(lengths) == 3 and len(set(lengths)) == 1

    @kinds.register_rule("format:emoji")
    def emoji(response: str) -> bool:
        """Check that each sentence ends with an emoji, or the next sentence starts with one.

        A flag consists of two characters and does not count as an emoji.
        """
        from emoji import is_emoji

        sentences = [without_punctuation(sentence).strip() for sentence in split(response)]
        for sentence, following in zip(sentences, [*sentences[1:], ""], strict=True):
            ends = any(is_emoji(character) for character in sentence[-2:])
            if not sentence or not (ends or (following and is_emoji(following[0]))):
                return False
        return True

    return kinds


def _words(split: SplitFunction) -> Rules:
    """Return the rules about words within sentences and across them.

    `split` divides a text into sentences.
    """
    words = Rules()

    @words.register_rule("sentence:keyword")
    def keyword(response: str, word: str, N: float) -> bool:
        """Check that the Nth sentence contains the word, in any case."""
        sentences = split(response)
        if len(sentences) < N:
            return False
        return bool(re.search(rf"\b{re.escape(word)}\b", sentences[int(N - 1)], re.IGNORECASE))

    @words.register_rule("sentence:increment")
    def increment(response: str, small_n: float) -> bool:
        """Check that each sentence has exactly `small_n` more words than the previous one."""
        counts = [len(without_punctuation(sentence).split()) for sentence in split(response)]
        return all(second == first + small_n for first, second in pairwise(counts))

    @words.register_rule("sentence:alliteration_increment")
    def alliteration_increment(response: str) -> bool:
        """Check that each sentence has more alliterating words than the previous one."""
        counts = [-1, *map(_alliterating, split(response))]
        return all(first < second for first, second in pairwise(counts))

    @words.register_rule("words:last_first")
    def last_first(response: str) -> bool:
        """Check that each sentence starts with the last word of the previous one."""
        for one, following in pairwise(split(response)):
            last, first = (
                one.rstrip(f"{PUNCTUATION} ").split()[-1:],
                following.lstrip(f"{PUNCTUATION} ").split()[:1],
            )
            if not last or not first or last[0].lower() != first[0].lower():
                return False
        return True

    return words


def _whole(split: SplitFunction) -> Rules:
    """Return the rules that are used by a single prompt each, and the rule on bullets after sentences.

    `split` divides a text into sentences.
    """
    whole = Rules()

    @whole.register_rule("format:no_bullets_bullets")
    def no_bullets_bullets(response: str) -> bool:
        """Check for at least two sentences, followed by at least two bullets. One blank line may separate them."""
        lines = [line.strip() for line in response.split("\n")]
        bullets = [line.startswith("*") for line in lines]
        if sum(bullets) < 2:
            return False
        before = lines[: bullets.index(True)]
        if not all(bullets[len(before) :]) or not all(before[:-1]):
            return False
        return sum(len(split(line)) for line in before) >= 2

    @whole.register_rule("custom:word_reverse")
    def word_reverse(response: str) -> bool:
        """Check that the response with its words in reverse order is one sentence that contains "bald eagle"."""
        text = " ".join(reversed(without_punctuation(response.lower().strip()).split()))
        return "bald eagle" in text and text in split(text)

    @whole.register_rule("custom:sentence_alphabet")
    def sentence_alphabet(response: str) -> bool:
        """Check for 26 sentences that start with the letters from A to Z."""
        firsts = [sentence.strip()[:1].lower()[:1] for sentence in split(response)]
        return firsts == list(ascii_lowercase)

    return whole


def _ends(sentences: list[str]) -> tuple[int, int, int]:
    """Return three numbers: how many sentences end with a full stop, a question mark, an exclamation mark."""
    ends = [sentence[-1:] for sentence in sentences]
    return ends.count("."), ends.count("?"), ends.count("!")


def _alliterating(sentence: str) -> int:
    """Return the number of alliterating words: words next to a word with the same first letter."""
    firsts = [word[0] for word in (one.lstrip(f"{PUNCTUATION} ") for one in sentence.lower().split()) if word]
    equal = [first == second for first, second in pairwise(firsts)]
    runs = sum(now and not before for before, now in pairwise([False, *equal]))
    return sum(equal) + runs
