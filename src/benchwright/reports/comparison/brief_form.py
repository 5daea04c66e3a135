"""A comparison that fits on one screen: the runs, their scores and speed, and the number of changed answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.analysis.comparison.records import (
    ComparedRun,
    Comparison,
    LatencyComparison,
    PairComparison,
    ScoreComparison,
)
from benchwright.analysis.quality_and_speed.records import JointView
from benchwright.formats import count_with_noun, format_interval, format_milliseconds, number_text
from benchwright.reports.comparison.by_task import is_by_task, task_blocks, task_notes
from benchwright.reports.comparison.sentences import CellText, ExternalText, Line, note_lines
from benchwright.reports.comparison.tables import (
    METRIC_NAMES,
    TableBlock,
    describe_methods,
    latency_interval_text,
    signed_milliseconds,
)
from benchwright.reports.quality_and_speed import (
    concurrency_blocks,
    concurrency_lines,
    quality_and_speed_lines,
)
from benchwright.reports.run_list import short_ids

TIME_QUANTILES = (0.5, 0.95)
"""Quantiles of the request times that the brief form of a comparison shows."""


def brief_blocks(comparison: Comparison) -> Iterator[TableBlock]:
    """Yield the table of runs, a table of figures for each pair of runs, and tables by concurrency.

    When folders are compared, yield one table of all tasks instead.
    """
    if is_by_task(comparison):
        yield from task_blocks(comparison)
        return
    yield _runs(comparison.runs)
    for pair in comparison.pairs:
        if pair.scores:
            yield _figures(pair, comparison)
    yield from concurrency_blocks(comparison.by_concurrency)


def brief_lines(comparison: Comparison) -> Iterator[Line]:
    """Yield the number of changed answers for each score. Then yield warnings and notes about the figures."""
    if is_by_task(comparison):
        yield from task_notes(comparison)
        return
    for pair in comparison.pairs:
        told = f"{pair.b} against {pair.a}, " if len(comparison.pairs) > 1 else ""
        for score in pair.scores:
            if score.changes:
                won, lost = map(len, score.won_and_lost_changes())
                yield Line(
                    "note",
                    [
                        f"{told}",
                        ExternalText(score.title),
                        f": {count_with_noun(won, 'trial')} won, {lost:,} lost.",
                    ],
                )
    yield from concurrency_lines(comparison.by_concurrency)
    yield from (line for line in quality_and_speed_lines(comparison.joint) if line.kind == "warning")
    yield from note_lines(comparison)


def _runs(runs: Sequence[ComparedRun]) -> TableBlock:
    lettered = any(run.letter != run.title for run in runs)
    short = short_ids([run.run for run in runs if run.run])
    optional = [name for name in ("errors", "no_answer") if any(getattr(run, name) for run in runs)]
    columns = ["Run", *(["model"] if lettered else []), "task", "what", "samples", "trials"]
    columns += [{"errors": "failed", "no_answer": "no answer"}[name] for name in optional]
    rows: list[list[CellText]] = []
    for run in runs:
        what = short[run.run] if run.run and run.source == "journal" else run.reference
        what += f"@{run.slot}" if run.slot not in (None, "primary") else ""
        row: list[CellText] = [
            run.letter,
            *([ExternalText(run.title)] if lettered else []),
            ExternalText(run.task),
            ExternalText(what),
        ]
        row += [f"{run.samples:,}", f"{run.trials:,}", *(f"{getattr(run, name):,}" for name in optional)]
        rows.append(row)
    return TableBlock("Runs", columns, rows, left_columns=4 if lettered else 3)


def _figures(pair: PairComparison, comparison: Comparison) -> TableBlock:
    p_name = "p" if all(score.p_adjusted is None for score in pair.scores) else "Holm p"
    columns: list[CellText] = [
        f"{pair.b} − {pair.a}" if len(comparison.pairs) > 1 else "",
        pair.a,
        pair.b,
        "difference",
        f"{comparison.confidence * 100:g} % interval",
        p_name,
    ]
    rows = [_score(score) for score in pair.scores]
    rows += [_time(one) for one in pair.latencies if one.q in TIME_QUANTILES]
    rows += _correct_per_second(pair, comparison.joint)
    return TableBlock("Figures", columns, rows, left_columns=1, note="; ".join(describe_methods([pair])))


def _score(score: ScoreComparison) -> list[CellText]:
    p_value = score.p_value if score.p_adjusted is None else score.p_adjusted
    means = [number_text(score.mean_a), number_text(score.mean_b), f"{score.difference:+.3f}"]
    bounds = format_interval(score.low, score.high, "+.3f")
    return [ExternalText(score.title), *means, bounds, number_text(p_value, ".2g")]


def _time(one: LatencyComparison) -> list[CellText]:
    times = [format_milliseconds(one.a), format_milliseconds(one.b), signed_milliseconds(one.difference)]
    return [f"{METRIC_NAMES[one.metric]} p{one.q * 100:g}, ms", *times, latency_interval_text(one), ""]


def _correct_per_second(pair: PairComparison, views: Sequence[JointView]) -> Iterator[list[CellText]]:
    rates = {view.name: view.correct_per_second for view in views}
    found = [rates.get(pair.a), rates.get(pair.b)]
    if any(rate is not None for rate in found):
        values: list[CellText] = [number_text(None if rate is None else rate.value, ".4g") for rate in found]
        yield ["correct answers/s", *values, "", "", ""]
