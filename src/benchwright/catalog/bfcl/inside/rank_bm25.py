"""Replaces the rank_bm25 library (0.2.2). BFCL's memory uses only its BM25+ scores.

The formula is by Lv and Zhai 2011, with k1 = 1.5, b = 0.75 and delta = 1. The order of operations is that of
the library, so that floating-point results are equal.
"""

from __future__ import annotations

import math
from collections import Counter

K1, B, DELTA = 1.5, 0.75, 1


class BM25Plus:
    """BM25+ scores of documents. Each document is a list of words.

    Raises:
        ZeroDivisionError: If there is no document.
    """

    def __init__(self, corpus: list[list[str]]) -> None:
        self.counts = [Counter(words) for words in corpus]
        self.lengths = [len(words) for words in corpus]
        self.mean_length = sum(self.lengths) / len(corpus)
        held_by = Counter(word for count in self.counts for word in count)
        self.rarity = {word: math.log((len(corpus) + 1) / held) for word, held in held_by.items()}

    def get_scores(self, query: list[str]) -> list[float]:
        """Return each document's score for the words of a query."""
        scores = [0.0] * len(self.counts)
        for word in query:
            for place, count in enumerate(self.counts):
                scores[place] += self.rarity.get(word, 0) * (DELTA + self._weight(count[word], place))
        return scores

    def _weight(self, found: int, place: int) -> float:
        """Return the BM25+ weight of a word that occurs `found` times in the document with index `place`.

        The weight is normalised by the document's length.
        """
        return (found * (K1 + 1)) / (K1 * (1 - B + B * self.lengths[place] / self.mean_length) + found)
