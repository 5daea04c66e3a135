"""Comparison of one new model with the old one, by one score. A question (`--until`) consists of such comparisons."""

from __future__ import annotations

import numpy as np

from benchwright.analysis.deciding.records import DecisionPoint, DecisionVerdict, ModelDecision
from benchwright.analysis.deciding.score_bounds import ScoreBounds, score_range
from benchwright.runs.manifest import Manifest
from benchwright.runs.question import EarlierScores, Question
from benchwright.stats.sequential.decision import SequentialTest
from benchwright.stats.sequential.difference_predictor import MAX_PREDICTION_DIFFERENCE, DifferencePredictor

PATH_POINT_RATIO = 1.03
"""Ratio of the sample counts of consecutive points in the path of a decision.

It gives a few hundred points for any run size.
"""


class ModelComparison:
    """Comparison of a new model with the old one by one score. The score is scaled to the range from 0 to 1.

    `old`: mapping from samples to the old model's scores, if these are from an earlier run. None otherwise.
    """

    def __init__(self, question: Question, manifest: Manifest, score: str, slot: str, among: int) -> None:
        self.score, self.slot, self.than = score, slot, question.reference
        self._question = question
        low, high = score_range(manifest, score)
        self.width = high - low
        sizes = [len(unit) for unit in question.units]
        self._grouped, self._mean_size = max(sizes) > 1, sum(sizes) / len(sizes)
        self._sizes, self._largest = sizes, max(sizes)
        self.old = None if question.earlier is None else question.earlier.scores[score]
        self._predictor = self._foresee(question.earlier)
        self.decider = self._decider(among, MAX_PREDICTION_DIFFERENCE if self._predictor is not None else 0.0)
        self._without = None if self._predictor is None else self._decider(among, 0.0)
        self._used = 0
        self.path: list[DecisionPoint] = []
        self._next = 0.0

    def _foresee(self, earlier: EarlierScores | None) -> DifferencePredictor | None:
        """Return a predictor from other models' earlier results on the same samples.

        None if there are no such results.
        """
        if earlier is None or self.old is None or not self._question.finite or self._grouped:
            return None
        others = earlier.others.get(self.score, [])
        if not others:
            return None
        samples = [unit[0] for unit in self._question.units]
        old = [sum(self.old[sample]) / 2 for sample in samples]
        return DifferencePredictor(old, np.array([[one[sample] for one in others] for sample in samples]))

    def _decider(self, among: int, reach: float) -> SequentialTest:
        question = self._question
        bound = self._largest / self._mean_size if question.finite else 1.0
        at_least = int(np.searchsorted(np.cumsum(self._sizes), question.at_least)) + 1
        return SequentialTest(
            len(question.units),
            goal=question.goal,
            margin=question.margin / self.width,
            error=question.error,
            at_least=at_least,
            bounds=(-bound, bound),
            finite=question.finite,
            reach=reach,
            among=among,
        )

    def add_unit(self, place: int, gap: ScoreBounds) -> None:
        """Process the unit (sample or cluster) at this place in the order.

        `gap`: bounds of the unit's mean difference new - old.
        """
        if self.decider.verdict is not None:
            return
        size = self._sizes[place]
        share = size / self._mean_size if self._question.finite else 1.0
        weight = 1.0 if self._question.finite else size / self._largest
        least, most = gap.lowest * share, gap.highest * share
        self._used += size
        expected = 0.0
        if self._predictor is not None and self._without is not None:
            expected = self._predictor.predict()
            self._predictor.learn((least + most) / 2)
            self._without.add(least, most)
        self.decider.add(least, most, weight=weight, expected=expected)

    def record_point(self) -> None:
        """Add the current state to the path, if there is a verdict, or if enough samples were processed since
        the last point.
        """
        known = self.path and self.path[-1].samples == self._used
        if not known and (self.decider.verdict is not None or self._used >= self._next):
            self._next = self._used * PATH_POINT_RATIO
            self.path.append(self._moment())

    def _moment(self) -> DecisionPoint:
        decision = self.decider.decision
        low, high = decision.interval
        return DecisionPoint(
            self._used, decision.difference * self.width, low * self.width, high * self.width
        )

    def decision(self, model: str, than: str) -> ModelDecision:
        """Return the current decision."""
        found, moment = self.decider.decision, self._moment()
        verdict: DecisionVerdict = "undecided" if found.verdict is None else found.verdict
        narrower = None
        if self._without is not None:
            low, high = self._without.interval
            narrower = 1 - (moment.high - moment.low) / ((high - low) * self.width)
        return ModelDecision(
            model=model,
            than=than,
            score=self.score,
            verdict=verdict,
            difference=moment.difference,
            low=moment.low,
            high=moment.high,
            error=found.error,
            used=self._used,
            slot=self.slot,
            unit=self.width == 1,
            path=self.path if self.path and self.path[-1] == moment else [*self.path, moment],
            narrower=narrower,
        )


def model_comparisons(question: Question, manifest: Manifest) -> list[ModelComparison]:
    """Return the comparisons of a question: one for every new model and every score."""
    slots = [target.slot for target in manifest.targets if target.slot != question.reference]
    among = len(slots) * len(question.scores)
    return [
        ModelComparison(question, manifest, score, slot, among) for slot in slots for score in question.scores
    ]
