"""The rules of IFEval that depend on sentence boundaries."""

from __future__ import annotations

from benchwright.catalog.ifeval.rules import CountRelation, Rules, compare
from benchwright.catalog.ifeval.splitters import SplitFunction
from benchwright.catalog.ifeval.word_counting import count_capital_words


def counting_rules(split: SplitFunction) -> Rules:
    """Return the rules that depend on sentence boundaries. `split` divides a text into sentences."""
    rules = Rules()

    @rules.register_rule("change_case:capital_word_frequency")
    def capital_word_frequency(
        response: str, capital_frequency: int, capital_relation: CountRelation
    ) -> bool:
        """Check that the number of words in capitals has the required relation to `capital_frequency`.

        A hyphenated word counts as one word.
        """
        return compare(count_capital_words(split(response)), capital_relation, capital_frequency)

    @rules.register_rule("length_constraints:number_sentences")
    def number_sentences(response: str, num_sentences: int, relation: CountRelation) -> bool:
        """Check that the number of sentences has the required relation to `num_sentences`."""
        return compare(len(split(response)), relation, num_sentences)

    return rules
