"""One channel of an answer: the texts that came on it, and when."""

from __future__ import annotations

from array import array
from itertools import pairwise

from benchwright.endpoint.json_reading import whole_characters

FEWEST, SHORTEST = 3, 8
"""So many pieces, and characters of them, tell an answer that is sent twice from a model that repeats itself."""


class Channel:
    """Texts in the order in which they came, with the moment of each (`perf_counter_ns`)."""

    __slots__ = ("texts", "times")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.times = array("Q")

    def add(self, text: str, at: int) -> None:
        """Add a text."""
        self.texts.append(text)
        self.times.append(at)

    def text(self) -> str:
        """Return all texts as one."""
        return whole_characters("".join(self.texts))

    def settle(self) -> bool:
        """Leave out what came more than once: the last text if it is all before it again (RAGFlow), or what each text
        repeats of the one before it. Return True if there was such.
        """
        texts = self.texts
        if not texts:
            return False
        if is_all_again(texts[-1], texts[:-1]):
            texts.pop()
            self.times.pop()
            return True
        is_enough = len(texts) >= FEWEST and len(texts[-1]) >= SHORTEST and len(texts[0]) < len(texts[-1])
        return is_enough and self.settle_cumulative()

    def settle_cumulative(self) -> bool:
        """Keep what each text adds if every text begins with the one before it. Return True if so."""
        texts = self.texts
        if len(texts) < 2 or not all(map(str.startswith, texts[1:], texts)):
            return False
        self.texts = [
            texts[0],
            *(after[len(before) :] for before, after in pairwise(texts)),
        ]
        return True

    def time_of(self, place: int) -> int:
        """Return when the character at a place of the text came, 0 if there is none."""
        end = 0
        for text, at in zip(self.texts, self.times, strict=True):
            end += len(text)
            if end > place:
                return at
        return 0


def is_all_again(text: str, before: list[str]) -> bool:
    """Return True if a text is all the texts before it once more, and not just a model that repeats itself."""
    if len(before) + 1 < FEWEST or len(text) < SHORTEST or not text.startswith(before[0]):
        return False
    return len(text) == sum(map(len, before)) and text == "".join(before)
