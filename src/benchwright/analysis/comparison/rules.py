"""Rules and gates by which scripts decide on a comparison: `--fail-if "NAME < VALUE"` and `--max-regression`."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping

import numpy as np

from benchwright.analysis.comparison.records import GateResult, PairComparison
from benchwright.analysis.comparison.sides import ERROR, NO_ANSWER, Side
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.statistic import NoScore, Statistic
from benchwright.stats.arrays import exact_mean
from benchwright.suggestions import did_you_mean

OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}

_RULE = re.compile(r"\s*(?P<name>[^\s<>=!]+)\s*(?P<operator><=|>=|==|!=|<|>)\s*(?P<value>[^\s<>=!]+)\s*")


class Rule(Record, frozen=True):
    """One `--fail-if` rule, as `NAME OPERATOR VALUE`. The rule fails if this comparison is true."""

    name: str
    operator: str
    threshold: float

    @property
    def text(self) -> str:
        """The rule in the form in which the user types it."""
        return f"{self.name} {self.operator} {self.threshold:g}"


def parse_rule(text: str) -> Rule:
    """Parse a rule: a name, an operator (< <= > >= == !=), a number.

    Raises:
        UserError: If the text is not a rule.
    """
    match = _RULE.fullmatch(text)
    try:
        value = float(match["value"]) if match is not None else math.nan
    except ValueError:
        value = math.nan
    if match is None or not math.isfinite(value):
        raise UserError(
            f"--fail-if {text!r} is not a rule: give a name, one of < <= > >= == !=, and a number, "
            'as in --fail-if "accuracy < 0.7".'
        )
    return Rule(match["name"], match["operator"], value)


def apply_rule(rule: Rule, metrics: Mapping[str, Statistic]) -> GateResult:
    """Apply a rule to the metrics and return the gate result.

    Raises:
        UserError: If there is no such metric, the metric was not measured, or nothing was scored.
    """
    if rule.name not in metrics:
        known = sorted(metrics)
        raise UserError(
            f"--fail-if: there is no metric {rule.name!r}.{did_you_mean(rule.name, known)} "
            f"Choose from: {', '.join(known)}."
        )
    value = metrics[rule.name]
    if value is None:
        raise UserError(f"--fail-if: {rule.name} was not measured in what is compared.")
    if isinstance(value, NoScore):
        raise UserError(f"--fail-if: {rule.name}: {value}, so there is nothing to decide.")
    failed = OPERATORS[rule.operator](value, rule.threshold)
    return GateResult(f"fail if {rule.text}", not failed, f"{rule.name} is {value:.6g}")


def metrics_of(side: Side) -> dict[str, Statistic]:
    """Return the figures of one run by the names that `--fail-if` uses.

    - The name of a score is its documented mean, in which failures count as 0.
    - `NAME.scored` is the mean of the score NAME without failures. A trial without an answer counts as 0 in
      both means, see `runs.counting`.
    - `errors` is the share of the trials that failed, by the first score.
    - `no_answer` is the share of the trials that had no answer to score, by the first score.
    - `value` is the first score.

    A score that no trial has is a `NoScore` under each of its names.
    """
    trials = side.trials
    n = len(trials.samples)
    found: dict[str, Statistic] = {
        "samples": float(trials.samples.count_distinct() or len(trials.samples)),
        "trials": float(n),
        "errors": None,
        "no_answer": None,
    }
    for name, column in trials.scores.items():
        scored = column.values[column.states != ERROR]
        none = side.no_score(name)
        values: dict[str, Statistic] = {name: exact_mean(column.values) if none is None else none}
        values[f"{name}.scored"] = exact_mean(scored) if none is None else none
        if found["errors"] is None and n:
            found |= {"errors": column.count(ERROR) / n, "no_answer": column.count(NO_ANSWER) / n}
            found["value"] = values[name]
        found |= values
    for name, times in side.timings.items():
        for q in (50, 95, 99):
            found[f"{name}_p{q}"] = float(np.percentile(times, q)) if times.size else None
    return found | dict(side.metrics)


def metrics_of_pair(pair: PairComparison) -> dict[str, Statistic]:
    """Return the figures of a comparison by name: `NAME.difference` with `.low` and `.high`, and
    `NAME.p_value`.

    NAME is the name of the score. The figures of the first score are also listed without its name. The p-value
    is Holm's if there are several tests.
    """
    found: dict[str, Statistic] = {}
    for number, score in enumerate(pair.scores):
        p_value = score.p_value if score.p_adjusted is None else score.p_adjusted
        values: dict[str, Statistic] = {
            "difference": score.difference,
            "difference.low": score.low,
            "difference.high": score.high,
            "p_value": p_value,
        }
        found |= {f"{score.score}.{name}": value for name, value in values.items()}
        if number == 0:
            found |= values
    return found


def check_regression(
    name: str, found: tuple[float, float | None, float | None], margin: float, confidence: float, tests: int
) -> GateResult:
    """Return the result of a gate that fails if B is proven to be worse than A by more than `margin`.

    `found` is (difference B - A, its one-sided upper bound at the confidence 1 - (1 - confidence) / tests
    (Bonferroni), the two-sided p-value). There is no bound if the values do not support an interval (graded
    differences that are all equal). In this case the p-value decides.

    Raises:
        UserError: If there is neither a bound nor a p-value.
    """
    gap, high, p_value = found
    if high is None and p_value is None:
        raise UserError(f"--max-regression: {name}: a single sample supports no decision.")
    level = (1 - confidence) / tests
    if high is not None:
        worse = high < -margin
        told = f"the difference is {gap:+.4f}, with an upper bound of {high:+.4f} ({1 - level:.4g} one-sided)"
    else:
        worse = gap < -margin and p_value is not None and p_value / 2 <= level
        told = f"the difference is {gap:+.4f}, with no interval"
    rule = f"{name}: no regression above {margin:g} at confidence {confidence:g}"
    if not worse and gap < -margin:
        told += "; that is a larger regression, but it may be due to chance"
    return GateResult(rule, not worse, told)


def check_non_inferiority(
    name: str, found: tuple[float, float | None, float | None], margin: float, confidence: float, tests: int
) -> GateResult:
    """Return the result of a non-inferiority gate. It passes if the lower bound of B - A is above -`margin`.

    `found` is (difference B - A, its one-sided lower bound at the confidence 1 - (1 - confidence) / tests
    (Bonferroni), the two-sided p-value). The p-value is not used. Without a bound, the gate fails.
    """
    gap, low, _ = found
    rule = f"{name}: no regression above {margin:g}, proven at confidence {confidence:g}"
    if low is None:
        return GateResult(rule, False, f"the difference is {gap:+.4f}, with no interval")
    level = 1 - (1 - confidence) / tests
    told = f"the difference is {gap:+.4f}, with a lower bound of {low:+.4f} ({level:.4g} one-sided)"
    if low <= -margin <= gap:
        told += "; more samples may prove it"
    return GateResult(rule, low > -margin, told)
