"""Experiments on a judge: its verdicts on the same answers, before and after a change that should not matter."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.analysis.judged.records import Judge
from benchwright.records import Record
from benchwright.stats.intervals import wilson_interval
from benchwright.stats.judge_agreement import RateEstimate
from benchwright.stats.paired_tests import mcnemar_test


class JudgeExperiment(Record, frozen=True):
    """Verdicts of the run and new verdicts after one change, on the same `n` answers.

    `to_right`: number of answers that were wrong by the run's verdict and are right by the new verdict.
    `to_wrong`: number of answers that were right and are wrong. `agreement`: share of equal verdicts, with
    Wilson's interval. `p_value`: p-value of McNemar's exact test that both directions are equally likely.
    `agreement` and `p_value` are None if there are no pairs. `no_verdict`: number of answers without a new
    verdict, which are left out.
    """

    name: str
    n: int
    to_right: int
    to_wrong: int
    agreement: RateEstimate | None
    p_value: float | None
    no_verdict: int = 0


class JudgeCheck(Record, frozen=True):
    """Results of the experiments on the judge of a run.

    `answers`: number of answers, drawn at random from all answers that the judge has scored. `left_out`:
    experiments that could not be made, with the reasons. `second`: the model of the second judge.
    """

    run: str
    judge: Judge | None
    answers: int
    experiments: list[JudgeExperiment]
    left_out: dict[str, str] = {}
    second: str | None = None


def compare_verdicts(
    name: str, before: Sequence[float], after: Sequence[float | None], threshold: float
) -> JudgeExperiment:
    """Return the comparison of verdicts before and after a change.

    A verdict counts as right if it is at least `threshold`.
    """
    pairs = [
        (one >= threshold, other >= threshold)
        for one, other in zip(before, after, strict=True)
        if other is not None
    ]
    n, to_right, to_wrong = len(pairs), pairs.count((False, True)), pairs.count((True, False))
    equal = n - to_right - to_wrong
    return JudgeExperiment(
        name=name,
        n=n,
        to_right=to_right,
        to_wrong=to_wrong,
        agreement=RateEstimate(equal / n, *wilson_interval(equal, n)) if n else None,
        p_value=mcnemar_test(to_right, to_wrong).exact_p_value if n else None,
        no_verdict=len(after) - n,
    )
