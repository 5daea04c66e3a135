"""The rules of IFBench about NLTK's word tokens, and the rule about the part of speech of the first token."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from benchwright.catalog.ifbench.text_cleaning import PUNCTUATION
from benchwright.catalog.ifbench.vocabulary import PRONOUNS
from benchwright.catalog.ifeval.rules import Rules
from benchwright.catalog.ifeval.splitters import SplitFunction

Tokenizer = Callable[[str], list[str]]

START_VERB_INSTRUCTION = "words:start_verb"
"""Id of the instruction whose rule needs the tagger."""

_SEEN = 3
"""Number of tokens to tag. The tag of the first token depends only on the two tokens after it."""


def token_rules(split: SplitFunction) -> Rules:
    """Return the rules about tokens, except the rule that needs the part-of-speech tagger.

    `split` divides a text into sentences.
    """
    rules = Rules()

    def tokens(text: str) -> list[str]:
        return [token for sentence in split(text) for token in tokenize_sentence(sentence)]

    @rules.register_rule("count:pronouns")
    def pronouns(response: str, N: float) -> bool:
        """Check for at least N pronouns from a list of 63."""
        return sum(token in PRONOUNS for token in tokens(response.replace("/", " ").lower())) >= N

    @rules.register_rule("words:keywords_specific_position")
    def keywords_specific_position(response: str, keyword: str, n: int, m: int) -> bool:
        """Check that token m of sentence n is the keyword, ignoring case.

        Tokens without letters and digits are not counted.
        """
        sentence = "".join(split(response)[n - 1 : n])
        words = [token for token in tokens(sentence) if any(character.isalnum() for character in token)]
        return len(words) >= m and words[m - 1].lower() == keyword.strip().lower()

    @rules.register_rule("words:words_position")
    def words_position(response: str, keyword: str) -> bool:
        """Check that the second token and the second-to-last token are the keyword, ignoring case.

        Punctuation at the end is not counted as a token.
        """
        found = tokens(response)
        from_end = 3 if found and found[-1] in PUNCTUATION else 2
        wanted = keyword.strip().lower()
        return len(found) >= from_end and found[1].lower() == found[-from_end].lower() == wanted

    @rules.register_rule("format:title_case")
    def title_case(response: str) -> bool:
        """Check that no token starts with a lower-case letter.

        A token passes nevertheless if both lower-case letters and capitals follow its first letter.
        """
        return not any(_is_lower(token) for token in tokens(response) if token[0].isalpha())

    return rules


def tagging_rules(split: SplitFunction, directory: Path) -> Rules:
    """Return the rule that needs the part-of-speech tagger, whose model is in `directory`."""
    rules = Rules()

    @rules.register_rule(START_VERB_INSTRUCTION)
    def start_verb(response: str) -> bool:
        """Check that the first token is tagged as a verb."""
        first = [token for sentence in split(response) for token in tokenize_sentence(sentence)][:_SEEN]
        return bool(first) and "VB" in _tagger(directory).tag(first)[0][1]

    return rules


def _is_lower(token: str) -> bool:
    rest = token[1:]
    return token[0].islower() and (not rest or rest.isupper() or rest.islower())


@lru_cache(maxsize=256)
def tokenize_sentence(sentence: str) -> list[str]:
    """Return the tokens of one sentence."""
    tokens: list[str] = _tokenizer().tokenize(sentence)
    return tokens


@cache
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


@cache
def _tagger(directory: Path) -> Any:
    """Return NLTK's tagger with the model in a directory.

    The model is JSON, so that loading it executes nothing.
    """
    from nltk.tag.perceptron import PerceptronTagger

    return PerceptronTagger(loc=str(directory))
