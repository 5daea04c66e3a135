"""One channel of a response (such as its answer or its reasoning): the texts, and their arrival times."""

from __future__ import annotations

from array import array
from itertools import pairwise

from benchwright.endpoint.json_reading import join_surrogates

FEWEST, SHORTEST = 3, 8
"""`FEWEST`, `SHORTEST`: lower limits for a repetition that is removed from a text.

The text must have arrived in at least `FEWEST` pieces, and its last piece must have at least `SHORTEST`
characters. A shorter repetition may be the model's own.
"""


class TextChannel:
    """The texts of one channel in the order of arrival, each with its arrival time (`perf_counter_ns`)."""

    __slots__ = ("texts", "times")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.times = array("Q")

    def add_text(self, text: str, at: int) -> None:
        """Add a text that arrived at the time `at`."""
        self.texts.append(text)
        self.times.append(at)

    def text(self) -> str:
        """Return all texts of the channel, joined."""
        return join_surrogates("".join(self.texts))

    def remove_repetition(self) -> bool:
        """Remove text that the server sent twice. Return True if any was removed.

        The last text is removed if it equals all texts before it, joined (RAGFlow). If each text begins with
        the text before it, that beginning is removed from each.
        """
        texts = self.texts
        if not texts:
            return False
        if repeats_earlier_texts(texts[-1], texts[:-1]):
            texts.pop()
            self.times.pop()
            return True
        is_enough = len(texts) >= FEWEST and len(texts[-1]) >= SHORTEST and len(texts[0]) < len(texts[-1])
        return is_enough and self.remove_accumulated_text()

    def remove_accumulated_text(self) -> bool:
        """Remove from each text the text before it, if every text begins with the text before it.

        Return True if that was the case.
        """
        texts = self.texts
        if len(texts) < 2 or not all(map(str.startswith, texts[1:], texts)):
            return False
        self.texts = [
            texts[0],
            *(after[len(before) :] for before, after in pairwise(texts)),
        ]
        return True

    def arrival_time(self, place: int) -> int:
        """Return the arrival time of the character at an offset of the joined text.

        Return 0 if there is no such character.
        """
        end = 0
        for text, at in zip(self.texts, self.times, strict=True):
            end += len(text)
            if end > place:
                return at
        return 0


def repeats_earlier_texts(text: str, before: list[str]) -> bool:
    """Return True if a text repeats all texts before it and is too long for the model to have repeated them itself."""
    if len(before) + 1 < FEWEST or len(text) < SHORTEST or not text.startswith(before[0]):
        return False
    return len(text) == sum(map(len, before)) and text == "".join(before)
