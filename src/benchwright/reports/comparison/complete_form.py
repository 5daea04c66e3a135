"""All tables and notes of a comparison: on its pairs of runs first, then on the quality and speed of each run."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.analysis.comparison.records import Comparison
from benchwright.reports.comparison.breakdown import breakdown_blocks
from benchwright.reports.comparison.by_task import is_by_task, task_blocks, task_notes
from benchwright.reports.comparison.sentences import Line, note_lines
from benchwright.reports.comparison.tables import TableBlock, comparison_blocks
from benchwright.reports.quality_and_speed import (
    concurrency_blocks,
    concurrency_lines,
    quality_and_speed_blocks,
    quality_and_speed_lines,
)


def all_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield all tables of a comparison that are not empty."""
    if is_by_task(comparison):
        yield from task_blocks(comparison)
    yield from comparison_blocks(comparison)
    yield from breakdown_blocks(comparison)
    yield from quality_and_speed_blocks(comparison.joint)
    yield from concurrency_blocks(comparison.by_concurrency)


def detail_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield the tables that only the complete form of a comparison has, and the brief form (`brief_form.py`) not."""
    shown = ("Tasks", "By concurrency", *(() if is_by_task(comparison) else ("Runs",)))
    return (block for block in all_blocks(comparison) if block.title not in shown)


def all_notes(comparison: Comparison) -> Iterator[Line]:
    """Yield all notes of a comparison, one sentence each."""
    yield from concurrency_lines(comparison.by_concurrency)
    yield from quality_and_speed_lines(comparison.joint)
    yield from task_notes(comparison) if is_by_task(comparison) else note_lines(comparison)
