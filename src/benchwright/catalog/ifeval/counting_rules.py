"""The rules of IFEval that depend on sentence boundaries."""

from __future__ import annotations

from benchwright.catalog.ifeval.rules import Relation, Rules, compare
from benchwright.catalog.ifeval.splitters import SplitFunction
from benchwright.catalog.ifeval.words import capital_word_count


def counting_rules(split: SplitFunction) -> Rules:
    """Return the rules that depend on sentence boundaries. `split` divides a text into sentences."""
    rules = Rules()

    @rules.rule("change_case:capital_word_frequency")
    def capital_word_frequency(response: str, capital_frequency: int, capital_relation: Relation) -> bool:
        """Check that the number of words in capitals has the required relation to `capital_frequency`.

        A hyphenated word counts as one word.
        """
        return compare(capital_word_count(split(response)), capital_relation, capital_frequency)

    @rules.rule("length_constraints:number_sentences")
    def number_sentences(response: str, num_sentences: int, relation: Relation) -> bool:
        """Check that the number of sentences has the required relation to `num_sentences`."""
        return compare(len(split(response)), relation, num_sentences)

    return rules
