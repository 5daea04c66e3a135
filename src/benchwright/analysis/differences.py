"""Differences between the first target of a run and its other targets, computed from the run's table."""

from __future__ import annotations

from benchwright.analysis.comparison.figures import compute_difference
from benchwright.analysis.comparison.pairing import align_samples
from benchwright.analysis.comparison.side_trials import trials_of
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.stats.power import minimum_detectable_effect


class Difference(Record, frozen=True):
    """The difference between target `slot` and target `than` by one scorer, over the `n` samples that both
    have.

    Repeats are averaged per sample first. A trial without an answer counts as 0 and failures are left out
    (`runs.counting`), as in `compare`. `low` and `high` are the 95 % interval of `compute_difference`, computed by
    `method`. `p_value` is two-sided, by `test`. `detectable` is the smallest difference that would be detected
    with 80 % power, for this number of samples and their variance.
    """

    scorer: str
    slot: str
    than: str
    n: int
    difference: float
    wins: int
    losses: int
    ties: int
    method: str
    test: str
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    detectable: float | None = None


def differences(manifest: Manifest, table: RunTable) -> list[Difference]:
    """Compare the first target with each other target, by every score for which both targets have a value."""
    if len(manifest.targets) < 2:
        return []
    first, *others = (target.slot for target in manifest.targets)
    ours = trials_of(manifest, table, table.counted_rows(first))
    found = []
    for other in others:
        theirs = trials_of(manifest, table, table.counted_rows(other))
        aligned = align_samples(theirs.samples, theirs.groups, ours.samples, ours.groups)
        for name in ours.scores:
            gap = compute_difference(aligned, theirs.scores[name], ours.scores[name], "usual", 0.95)
            if gap is None or aligned.unpaired_reason is not None:
                continue
            low, high = gap.interval or (None, None)
            found.append(
                Difference(
                    scorer=name,
                    slot=first,
                    than=other,
                    n=gap.n,
                    difference=gap.difference,
                    wins=gap.wins,
                    losses=gap.losses,
                    ties=gap.ties,
                    method=gap.method,
                    test=gap.test,
                    low=low,
                    high=high,
                    p_value=gap.p_value,
                    detectable=minimum_detectable_effect(gap.standard_error, 1)
                    if gap.standard_error
                    else None,
                )
            )
    return found
