"""The differences between the first target of a run and the others, sample by sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.analysis.tally import ScoreColumn, Tally
from benchwright.records import Record
from benchwright.runs.manifest import Manifest

if TYPE_CHECKING:
    from benchwright.stats.paired import PairedDifference


class Difference(Record, frozen=True):
    """How much better target `slot` is than target `than`, by one scorer, over the `n` samples both scored.

    Repeats are averaged per sample first. `low` and `high` are the 95 % interval of `difference`, made by
    `method`; `p_value` is two-sided, by `test`. `detectable` is the smallest difference that this many
    samples, spread as they are, show with 80 % power.
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


def differences(manifest: Manifest, tally: Tally) -> list[Difference]:
    """The first target against each other one, by every scorer that both have values of."""
    slots = [target.slot for target in manifest.targets]
    found = []
    for other in slots[1:]:
        for scorer in manifest.scorers:
            ours = tally.targets[slots[0]].scores[scorer.name]
            theirs = tally.targets[other].scores[scorer.name]
            paired = _paired(ours, theirs)
            if paired is not None:
                found.append(_difference(scorer.name, slots[0], other, paired))
    return found


def _paired(ours: ScoreColumn, theirs: ScoreColumn) -> PairedDifference | None:
    from benchwright.stats.paired import match, paired_difference
    from benchwright.stats.repeats import sample_means

    if not len(ours.values) or not len(theirs.values):
        return None
    matched = match(sample_means(ours.values, ours.samples), sample_means(theirs.values, theirs.samples))
    if not matched.samples:
        return None
    groups = ours.groups_of([sample for sample in matched.samples if isinstance(sample, int)])
    return paired_difference(matched.a, matched.b, groups)


def _difference(scorer: str, slot: str, than: str, paired: PairedDifference) -> Difference:
    from benchwright.stats.power import minimum_detectable_effect

    interval = paired.interval
    known = paired.sd is not None and paired.sd > 0
    return Difference(
        scorer=scorer,
        slot=slot,
        than=than,
        n=paired.n,
        difference=paired.difference,
        wins=paired.wins,
        losses=paired.losses,
        ties=paired.ties,
        method=paired.method,
        test=paired.test,
        low=interval.low if interval is not None else None,
        high=interval.high if interval is not None else None,
        p_value=paired.p_value,
        detectable=minimum_detectable_effect(paired.sd, paired.n, design_effect=paired.design_effect or 1.0)
        if known and paired.sd is not None
        else None,
    )
