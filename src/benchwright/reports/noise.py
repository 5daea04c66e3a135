"""The noise floor of runs (how much scores differ by chance) as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.noise import NoiseFloor
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line
from benchwright.reports.comparison.tables import TableBlock

FLIPS_NOTE = (
    "flips: how often two answers to the same sample score differently; two runs apart: how far the means of two runs "
    "like this one lie apart by chance, 95 % of the time"
)
SAMPLES_NEEDED_NOTE = (
    "samples with which a comparison sees such a difference in 80 of 100 cases, at an error of 5 %"
)


def noise_blocks(floors: Sequence[NoiseFloor]) -> Iterator[TableBlock]:
    """Yield a table of how often a sample's score changes between repeats.

    Then yield tables of required sample sizes.
    """
    columns = ["Model", "task", "score", "samples", "repeats", "flips", "two runs apart"]
    rows: list[list[CellText]] = [
        [
            *(
                ExternalText(floor.model),
                ExternalText(floor.task),
                ExternalText(floor.score),
                f"{floor.samples:,}",
            ),
            *(f"{floor.values / floor.samples:.3g}", f"{floor.flips * 100:.1f} %", f"±{floor.apart:.3f}"),
        ]
        for floor in floors
    ]
    yield TableBlock("Noise", columns, rows, left_columns=3, note=FLIPS_NOTE)
    for floor in floors:
        yield _needed(floor, alone=len(floors) == 1)


def _needed(floor: NoiseFloor, *, alone: bool) -> TableBlock:
    repeats = list(dict.fromkeys(plan.repeats for plan in floor.plans))
    samples = {(plan.difference, plan.repeats): plan.samples for plan in floor.plans}
    heads = ["1 repeat", *(f"{count} repeats" for count in repeats[1:])]
    first: CellText = (
        "Samples to see" if alone else ExternalText(f"{floor.model}, {floor.task}, {floor.score}")
    )
    rows: list[list[CellText]] = [
        [f"{difference:+g}", *(f"{samples[difference, count]:,}" for count in repeats)]
        for difference in dict.fromkeys(plan.difference for plan in floor.plans)
    ]
    return TableBlock("Samples needed", [first, *heads], rows, left_columns=1, note=SAMPLES_NEEDED_NOTE)


def noise_lines(floors: Sequence[NoiseFloor]) -> Iterator[Line]:
    """Yield, for each score of each run, a sentence on how much two runs differ by chance alone."""
    for floor in floors:
        text = f": up to ±{floor.apart:.3f} between two runs like this one is noise."
        yield Line("verdict", [ExternalText(f"{floor.model}, {floor.task}, {floor.score}"), text])
