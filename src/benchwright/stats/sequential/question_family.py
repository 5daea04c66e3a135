"""Several questions about the same units: the given error probability covers all verdicts together."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.stats.sequential.decision import SequentialTest


class QuestionFamily:
    """Several questions that share the error.

    Each undecided question has error / (number of undecided questions). This is Holm's procedure at every
    moment. 1 / capital is a p-value that is valid at any time, and so is its minimum so far. So Holm (1979)
    applies: the probability of any false verdict is at most the error, however the questions depend on each
    other. A question with a verdict leaves its share to the undecided questions, and these are checked again.
    The intervals use the same shares, so that a verdict and its interval always agree. (Averages of e-values,
    as in Vovk and Wang 2021, would decide a little earlier if several differences are alike, but have no
    matching intervals.)

    Each of `deciders` is created with `among` equal to the number of deciders.
    """

    def __init__(self, deciders: Sequence[SequentialTest]) -> None:
        self.deciders = tuple(deciders)
        self.distribute_error()

    @property
    def is_decided(self) -> bool:
        """True if every question has a verdict."""
        return all(decider.verdict is not None for decider in self.deciders)

    def distribute_error(self) -> None:
        """Distribute the error among the undecided questions. Repeat this as long as it brings further verdicts."""
        undecided = -1
        while undecided != (left := sum(decider.verdict is None for decider in self.deciders)):
            undecided = left
            for decider in self.deciders:
                decider.set_error_share(undecided)
