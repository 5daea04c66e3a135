"""The rules about tokens, as NLTK cuts a sentence into them, and about the tag of the first one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from benchwright.catalog.ifbench.texts import MARKS
from benchwright.catalog.ifbench.vocabulary import PRONOUNS
from benchwright.catalog.ifeval.rules import Rules
from benchwright.catalog.ifeval.splitters import Split

Tokens = Callable[[str], list[str]]

START_VERB = "words:start_verb"
"""The instruction whose rule needs the tagger."""

_SEEN = 3
"""The tag of a token depends on the two behind it, and on no others."""


def token_rules(split: Split) -> Rules:
    """The rules but for the one that tags, with sentences split by this function."""
    rules = Rules()

    def tokens(text: str) -> list[str]:
        return [token for sentence in split(text) for token in tokens_of(sentence)]

    @rules.rule("count:pronouns")
    def pronouns(response: str, N: float) -> bool:
        """So many pronouns at least, of a list of 63."""
        return sum(token in PRONOUNS for token in tokens(response.replace("/", " ").lower())) >= N

    @rules.rule("words:keywords_specific_position")
    def keywords_specific_position(response: str, keyword: str, n: int, m: int) -> bool:
        """The mth token of the nth sentence that has a letter or digit is the keyword, in any case."""
        sentence = "".join(split(response)[n - 1 : n])
        words = [token for token in tokens(sentence) if any(character.isalnum() for character in token)]
        return len(words) >= m and words[m - 1].lower() == keyword.strip().lower()

    @rules.rule("words:words_position")
    def words_position(response: str, keyword: str) -> bool:
        """The second token and the last but one are the keyword, in any case; a last mark does not count."""
        found = tokens(response)
        from_end = 3 if found and found[-1] in MARKS else 2
        wanted = keyword.strip().lower()
        return len(found) >= from_end and found[1].lower() == found[-from_end].lower() == wanted

    @rules.rule("format:title_case")
    def title_case(response: str) -> bool:
        """No token starts with a small letter, unless small and capital letters follow."""
        return not any(_is_lower(token) for token in tokens(response) if token[0].isalpha())

    return rules


def tagging_rules(split: Split, directory: Path) -> Rules:
    """The rule that tags, with the tagger's model in the directory."""
    rules = Rules()

    @rules.rule(START_VERB)
    def start_verb(response: str) -> bool:
        """The first token is tagged as a verb."""
        first = [token for sentence in split(response) for token in tokens_of(sentence)][:_SEEN]
        return bool(first) and "VB" in _tagger(directory).tag(first)[0][1]

    return rules


def _is_lower(token: str) -> bool:
    rest = token[1:]
    return token[0].islower() and (not rest or rest.isupper() or rest.islower())


@lru_cache(maxsize=256)
def tokens_of(sentence: str) -> list[str]:
    """The tokens of one sentence."""
    tokens: list[str] = _tokenizer().tokenize(sentence)
    return tokens


@cache
def _tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()


@cache
def _tagger(directory: Path) -> Any:
    """NLTK's tagger with the model in a directory, which is JSON: nothing is executed."""
    from nltk.tag.perceptron import PerceptronTagger

    return PerceptronTagger(loc=str(directory))
