"""Tables of the differences between two runs by the values of a label (a named property of samples: subject, …)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.comparison.records import (
    Comparison,
    LabelValueDifference,
    PairComparison,
    ScoreBreakdown,
)
from benchwright.reports.comparison.sentences import CellText, ExternalText
from benchwright.reports.comparison.tables import TableBlock

CHANCE_NOTE = "each interval stands by itself: of many parts, some look better or worse by chance alone"


def breakdown_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield a table for each combination of a pair of runs, a score and a label."""
    for pair in comparison.pairs:
        yield from (breakdown_block(pair, one, comparison.confidence) for one in pair.breakdowns)


def breakdown_block(pair: PairComparison, found: ScoreBreakdown, confidence: float) -> TableBlock:
    """Build the table for one label (a named property of samples). It has one row per value of the label.

    The largest loss comes first.
    """
    title = breakdown_title(pair, found)
    columns: list[CellText] = [
        ExternalText(f"{found.score} by {found.label}"),
        pair.a,
        pair.b,
        "difference",
        f"{confidence * 100:g} % interval",
        "samples",
    ]
    note = f"{CHANCE_NOTE}; {found.left_out:,} more values are not shown" if found.left_out else CHANCE_NOTE
    return TableBlock(title, columns, _rows(found.parts), left_columns=1, note=note)


def breakdown_title(pair: PairComparison, found: ScoreBreakdown) -> str:
    """Return the title of a breakdown: the two runs, the score and the label."""
    return f"{pair.b} − {pair.a}: {found.score} by {found.label}"


def _rows(parts: Sequence[LabelValueDifference]) -> list[list[CellText]]:
    return [
        [
            ExternalText(part.value),
            f"{part.mean_a:.3f}",
            f"{part.mean_b:.3f}",
            f"{part.difference:+.3f}",
            "–" if part.low is None or part.high is None else f"[{part.low:+.3f}, {part.high:+.3f}]",
            f"{part.n:,}" if part.n else "–",
        ]
        for part in parts
    ]
