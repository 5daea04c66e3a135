"""Several questions about the same units: the error that was asked for is that of all verdicts together."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.stats.sequential.decision import Decider


class Family:
    """Gives each undecided question error / (number of undecided ones): Holm's procedure at every moment.

    1 / capital is a p-value that holds whenever one looks, and the least that it ever was is one, too, so Holm (1979)
    applies to these: the chance of any false verdict is at most the error, however the questions hang together. A
    verdict leaves its share to the others, which are looked at again. The intervals are those of the shares, so that a
    verdict and its interval always say the same. (Averages of e-values, as in Vovk and Wang 2021, would decide a little
    earlier where several differences are alike, but have no intervals that fit.)

    `deciders` are made with `among` as many.
    """

    def __init__(self, deciders: Sequence[Decider]) -> None:
        self.deciders = tuple(deciders)
        self.share()

    @property
    def decided(self) -> bool:
        """Whether every question has its verdict."""
        return all(decider.verdict is not None for decider in self.deciders)

    def share(self) -> None:
        """Shares the error among the undecided questions, until no verdict comes of it."""
        undecided = -1
        while undecided != (left := sum(decider.verdict is None for decider in self.deciders)):
            undecided = left
            for decider in self.deciders:
                decider.share(undecided)
