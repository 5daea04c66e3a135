"""Experiments on a judge: verdicts on the same answers, before and after a change that should not matter."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.analysis.judged.records import Judge
from benchwright.records import Record
from benchwright.stats.intervals import wilson
from benchwright.stats.judged import Rate
from benchwright.stats.paired import mcnemar


class Experiment(Record, frozen=True):
    """Verdicts of the run and verdicts under one change, on the same n answers.

    `to_right` answers were wrong by the run's verdict and right by the other one, `to_wrong` the reverse.
    `agreement` is the share of equal verdicts with Wilson's interval. `p_value` is from McNemar's exact test
    of whether both directions are equally likely. Both are None if there are no pairs. `no_verdict` answers
    got no new verdict and are left out.
    """

    name: str
    n: int
    to_right: int
    to_wrong: int
    agreement: Rate | None
    p_value: float | None
    no_verdict: int = 0


class JudgeCheck(Record, frozen=True):
    """Results of the experiments on the judge of a run.

    `answers` were drawn at random from all that it has scored. `left_out` maps the experiments that could not
    be made to the reasons. `second` is the model of the second judge.
    """

    run: str
    judge: Judge | None
    answers: int
    experiments: list[Experiment]
    left_out: dict[str, str] = {}
    second: str | None = None


def experiment(
    name: str, before: Sequence[float], after: Sequence[float | None], threshold: float
) -> Experiment:
    """Compare verdicts in pairs; a verdict is right if it is at least `threshold`."""
    pairs = [
        (one >= threshold, other >= threshold)
        for one, other in zip(before, after, strict=True)
        if other is not None
    ]
    n, to_right, to_wrong = len(pairs), pairs.count((False, True)), pairs.count((True, False))
    equal = n - to_right - to_wrong
    return Experiment(
        name=name,
        n=n,
        to_right=to_right,
        to_wrong=to_wrong,
        agreement=Rate(equal / n, *wilson(equal, n)) if n else None,
        p_value=mcnemar(to_right, to_wrong).exact if n else None,
        no_verdict=len(after) - n,
    )
