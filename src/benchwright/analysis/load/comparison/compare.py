"""Compares load measurements level by level: which server serves more, and which responds sooner?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from benchwright.analysis.comparison.side_naming import side_letter
from benchwright.analysis.load.comparison.figures import COMPARED_FIGURES, LevelFigures, level_figures
from benchwright.analysis.load.comparison.records import LoadChange, LoadComparisonResult, LoadPair, LoadSide
from benchwright.analysis.load.comparison.rules import LoadRules, gate_results, metrics_of
from benchwright.analysis.load.figure_records import FigureEstimate
from benchwright.analysis.load.records import LoadReport
from benchwright.stats.interval_differences import IntervalEstimate, ratio_interval, ratio_p_value
from benchwright.stats.multiple_testing import holm_adjusted_p_values

SIGNIFICANCE_LEVEL = 0.05

MIN_FAILURE_DIFFERENCE = 0.01
"""Smallest reported difference between the shares of failed requests of two sides.

Smaller differences are not reported.
"""


def compare_loads(
    reports: Sequence[LoadReport], rules: LoadRules, *, anyway: bool = False
) -> LoadComparisonResult:
    """Compare the first measurement with every other measurement.

    Measurements of different work (prompts, answers) are not compared, unless `anyway` is True.

    Raises:
        UserError: If a rule names an unknown figure.
    """
    sides = [_side(side_letter(place), report) for place, report in enumerate(reports)]
    pairs = [
        _pair((sides[0], reports[0]), (side, report), anyway=anyway)
        for side, report in zip(sides[1:], reports[1:], strict=True)
    ]
    pairs, tests = _decided(pairs)
    metrics = metrics_of(pairs)
    return LoadComparisonResult(sides, pairs, tests, list(gate_results(pairs, metrics, rules)), metrics)


def _side(letter: str, report: LoadReport) -> LoadSide:
    names = [result.level.name for result in report.levels]
    return LoadSide(
        letter=letter,
        id=report.id,
        model=report.model,
        base_url=report.base_url,
        task=report.task,
        prompts=report.prompts,
        levels=list(dict.fromkeys(names)),
        runs=max((names.count(name) for name in names), default=0),
        simulated=any(result.simulated for result in report.levels),
    )


def _pair(a: tuple[LoadSide, LoadReport], b: tuple[LoadSide, LoadReport], *, anyway: bool) -> LoadPair:
    side_a, side_b = a[0], b[0]
    refusals = list(_refusals(side_a, side_b))
    if refusals and not anyway:
        return LoadPair(side_a.letter, side_b.letter, refusals=refusals)
    levels_a, levels_b = level_figures(a[1]), level_figures(b[1])
    common = [name for name in levels_a if name in levels_b]
    same = a[1].objectives == b[1].objectives
    changes = [change for name in common for change in _changes(levels_a[name], levels_b[name], goodput=same)]
    notes = [*refusals, *_notes(a[1], b[1], common)]
    best = _best(levels_a.values(), levels_b.values(), aimed=same and bool(a[1].objectives))
    silent = [name for name in _silent(b[1], levels_b) if name in levels_a]
    return LoadPair(side_a.letter, side_b.letter, best, changes, notes=notes, silent=silent)


def _silent(report: LoadReport, answered: Iterable[str]) -> list[str]:
    """Return the names of the measurement's levels without answers. `answered`: names of the levels with answers."""
    return list(dict.fromkeys(one.level.name for one in report.levels if one.level.name not in answered))


def _refusals(a: LoadSide, b: LoadSide) -> Iterator[str]:
    """Yield reasons why the figures of two measurements are not comparable."""
    if a.task != b.task or (a.task != "synthetic" and a.prompts != b.prompts):
        yield f"they asked different things: {a.prompts} ({a.task}) and {b.prompts} ({b.task})"
    if a.simulated != b.simulated:
        yield "one is of a simulated server, the other of a real one"


def _notes(a: LoadReport, b: LoadReport, common: Sequence[str]) -> Iterator[str]:
    if a.task == b.task == "synthetic" and a.prompts != b.prompts:
        yield f"The prompts differ: {a.prompts}, and {b.prompts}"
    if not common:
        yield "They have no level in common, so only the best of either can be compared"
    if a.objectives != b.objectives:
        yield "Their objectives differ, so goodput is not compared"
    for name, report in (("A", a), ("B", b)):
        busy = [one.level.name for one in report.levels if one.client_bound is not None]
        if busy:
            yield f"The client was too busy in {name} at {', '.join(dict.fromkeys(busy))}: times there are not compared"
        warm = [one.level.name for one in report.levels if one.warm_cache]
        if warm:
            yield f"The server of {name} knew prompts at {', '.join(dict.fromkeys(warm))} (warm cache)"
        silent = _silent(report, [one.level.name for one in report.levels if one.answered_requests])
        if silent:
            yield f"{name} answered no request at {', '.join(silent)}"
        drifting = [one.level.name for one in report.levels if one.drift is not None]
        if drifting:
            yield f"{name} was not steady at {', '.join(dict.fromkeys(drifting))}"
    yield from _failures(a, b, common)
    if all(len(report.levels) == len({one.level.name for one in report.levels}) for report in (a, b)):
        yield (
            "Each was measured once: what changes from run to run of one server is not in the intervals. "
            "--repeats 3 puts it there"
        )


def _failures(a: LoadReport, b: LoadReport, common: Sequence[str]) -> Iterator[str]:
    """Yield a line for each level at which clearly more requests failed on one side."""
    for name in common:
        shares = [
            sum(one.failed for one in runs) / sum(one.counted for one in runs)
            for runs in ([one for one in report.levels if one.level.name == name] for report in (a, b))
        ]
        if abs(shares[0] - shares[1]) > MIN_FAILURE_DIFFERENCE:
            yield f"At {name} {shares[0] * 100:.1f} % of the requests failed in A, {shares[1] * 100:.1f} % in B"


def _changes(a: LevelFigures, b: LevelFigures, *, goodput: bool) -> Iterator[LoadChange]:
    objectives = goodput and all(run.goodput is not None for run in (*a.results, *b.results))
    busy = any(run.client_bound is not None for run in (*a.results, *b.results))
    for name, measure in COMPARED_FIGURES.items():
        if name not in a.figures or name not in b.figures or (name == "goodput" and not objectives):
            continue
        if not (busy and measure.is_time):
            yield _change(name, a, b)


def _best(a: Iterable[LevelFigures], b: Iterable[LevelFigures], *, aimed: bool) -> LoadChange | None:
    """Return the change from the highest rate of A to the highest rate of B, which may be at different
    levels.

    Return None if a side has no rate. If both sides have the same objectives (`aimed` is True), the rate is
    goodput. Otherwise it is answers per second.
    """
    measure = "goodput" if aimed else "achieved"
    best_a, best_b = (
        max(
            (one for one in side if measure in one.figures),
            key=lambda one: one.figures[measure].value,
            default=None,
        )
        for side in (a, b)
    )
    return None if best_a is None or best_b is None else _change(measure, best_a, best_b)


def _change(name: str, a: LevelFigures, b: LevelFigures) -> LoadChange:
    one, other = a.figures[name], b.figures[name]
    low, high = ratio_interval(_known(one), _known(other))
    return LoadChange(
        measure=name,
        level_a=a.level,
        level_b=b.level,
        a=one,
        b=other,
        change=other.value / one.value - 1,
        low=low - 1 if low > 0 else None,
        high=high - 1 if high < math.inf else None,
        p_value=ratio_p_value(_known(one), _known(other)),
    )


def _known(estimate: FigureEstimate) -> IntervalEstimate:
    return IntervalEstimate(
        estimate.value,
        0.0 if estimate.low is None else estimate.low,
        math.inf if estimate.high is None else estimate.high,
    )


def _decided(pairs: Sequence[LoadPair]) -> tuple[list[LoadPair], int]:
    """Return the pairs with p-values and verdicts corrected by Holm over all their figures.

    Also return the number of tests.
    """
    everything = [change for pair in pairs for change in _all(pair)]
    tested = [change.p_value for change in everything if change.p_value is not None]
    adjusted = iter(holm_adjusted_p_values(tested).tolist())
    decided: Mapping[int, LoadChange] = {
        id(change): change if change.p_value is None else _judged(change, next(adjusted))
        for change in everything
    }
    found = [
        replace(
            pair,
            best=None if pair.best is None else decided[id(pair.best)],
            changes=[decided[id(change)] for change in pair.changes],
        )
        for pair in pairs
    ]
    return found, len(tested)


def _all(pair: LoadPair) -> Iterator[LoadChange]:
    if pair.best is not None:
        yield pair.best
    yield from pair.changes


def _judged(change: LoadChange, p_adjusted: float) -> LoadChange:
    if p_adjusted > SIGNIFICANCE_LEVEL:
        return replace(change, p_adjusted=p_adjusted, verdict="no difference found")
    better = (change.change > 0) == COMPARED_FIGURES[change.measure].higher_is_better
    return replace(change, p_adjusted=p_adjusted, verdict="better" if better else "worse")
