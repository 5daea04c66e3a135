"""Decisions that the user requests of a comparison: rules on metrics, and a gate against regressions."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from benchwright.analysis.comparison.figures import one_sided_bound
from benchwright.analysis.comparison.pairs import PairOfSides, missing_score_reasons, score_names
from benchwright.analysis.comparison.records import GateResult
from benchwright.analysis.comparison.rules import (
    Rule,
    apply_rule,
    check_non_inferiority,
    check_regression,
    metrics_of,
    metrics_of_pair,
)
from benchwright.analysis.comparison.sides import Side
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.statistic import Statistic


def gate_metrics(sides: list[Side], pairs: list[PairOfSides]) -> dict[str, Statistic]:
    """Return the metrics that `--fail-if` can name.

    If there is only one run, they are the metrics of this run. If there is only one pair, they are the
    metrics of the pair and of its second run. Otherwise, there are none.
    """
    if len(sides) == 1:
        return metrics_of(sides[0])
    return _pair_metrics(pairs[0]) if len(pairs) == 1 else {}


def _pair_metrics(pair: PairOfSides) -> dict[str, Statistic]:
    metrics = metrics_of(pair.b) | metrics_of_pair(pair.comparison)
    return metrics | {
        score.score_b: metrics[score.score] for score in pair.comparison.scores if score.score_b is not None
    }


def apply_gates(
    pairs: list[PairOfSides],
    sides: list[Side],
    rules: list[Rule],
    max_regression: float | None,
    confidence: float,
    *,
    prove: bool = False,
) -> list[GateResult]:
    """Return the results of the `--fail-if` rules and of the gate against regressions.

    `max_regression` is the loss that may pass, in units of the score; None if there is no gate against
    regressions. If `prove` is True, this gate passes only if a larger loss is ruled out. Otherwise it fails
    only if a larger loss is proven.

    Raises:
        UserError: If there is nothing to decide on.
    """
    for pair in pairs:
        if pair.comparison.is_refused:
            told = "; ".join(pair.comparison.refusals)
            raise UserError(
                f"{pair.comparison.a} and {pair.comparison.b} are not comparable: {told}. See --anyway."
            )
        compared = {score.score for score in pair.comparison.scores}
        for name in score_names(pair.a, pair.b):
            if name not in compared:
                raise UserError(
                    f"{' and '.join(missing_score_reasons(pair, name))}, so there is nothing to decide."
                )
    if len(sides) == 1:
        if max_regression is not None:
            raise UserError("--max-regression needs two runs: the old one first, the new one second.")
        return [apply_rule(rule, metrics_of(sides[0])) for rule in rules]
    if not pairs:
        raise UserError("Nothing was compared, so there is nothing to decide.")
    tasks = len({pair.comparison.task for pair in pairs}) > 1
    rulings = [
        ruling
        for pair in pairs
        for ruling in _rulings(pair, rules, f"{_side_of(pair, tasks=tasks)}: " if len(pairs) > 1 else "")
    ]
    if max_regression is not None:
        rulings += _regressions(pairs, max_regression, confidence, prove=prove)
    return rulings


def _side_of(pair: PairOfSides, *, tasks: bool) -> str:
    """Return the name of side B in a gate result: its letter.

    If there are several tasks, return the task and B's name.
    """
    return f"{pair.comparison.task}, {pair.b.facts.name}" if tasks else pair.comparison.b


def _rulings(pair: PairOfSides, rules: list[Rule], before: str) -> Iterator[GateResult]:
    metrics = _pair_metrics(pair)
    for rule in rules:
        ruling = apply_rule(rule, metrics)
        yield msgspec.structs.replace(ruling, rule=f"{before}{ruling.rule}")


def _regressions(
    pairs: list[PairOfSides], margin: float, confidence: float, *, prove: bool
) -> list[GateResult]:
    """Return a gate result for every score of every pair.

    If no loss exceeds the margin, the probability that any gate fails is at most 1 - confidence, over all
    gates together. If `prove` is True, another probability has this bound: that any gate passes although its
    loss exceeds the margin.
    """
    tests = sum(len(pair.comparison.scores) for pair in pairs)
    level = 1 - (1 - confidence) / tests
    rulings = []
    for pair in pairs:
        for score in pair.comparison.scores:
            assert pair.alignment is not None
            columns = pair.a.trials.scores[score.score], pair.b.trials.scores[score.score]
            aligned = pair.alignment
            if score.lower_is_better:
                columns, aligned = columns[::-1], aligned._replace(a=aligned.b, b=aligned.a)
            found = one_sided_bound(aligned, *columns, level, lower=prove)
            task = f"{pair.comparison.task}: " if len({one.comparison.task for one in pairs}) > 1 else ""
            name = f"{task}{pair.comparison.b} against {pair.comparison.a}, {score.title}"
            rule = check_non_inferiority if prove else check_regression
            ruling = rule(name, found, margin, confidence, tests)
            samples, failed = (
                count_with_noun(score.n or score.n_b, "sample"),
                count_with_noun(score.errors_b, "trial"),
            )
            explanation = f"{ruling.explanation}; {samples}, {failed} failed"
            rulings.append(msgspec.structs.replace(ruling, explanation=explanation))
    return rulings
