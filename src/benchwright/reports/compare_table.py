"""The table by which the documented command compares result files: one column per file, one row per metric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.analysis.comparison.result_files import ResultFile
from benchwright.text import make_safe


def render_comparison(files: Sequence[ResultFile]) -> RenderableType:
    """Render the documented table, with an added row for the Wilson interval below the documented interval.

    Below the table, a line explains each file that has no score.
    """
    table = Table(title="Benchmark Comparison")
    table.add_column("Metric", no_wrap=True)
    for file in files:
        table.add_column(
            f"{make_safe(file.title)}\n{make_safe(file.model)}", justify="right", overflow="fold"
        )
    none = [file.no_score for file in files]
    for name, cell in METRIC_ROWS:
        cells = [
            cell(file) if why is None or name not in NO_SCORE_CELLS else NO_SCORE_CELLS[name]
            for file, why in zip(files, none, strict=True)
        ]
        if name != "Score" or any(text != MISSING_CELL for text in cells):
            table.add_row(name, *cells)
    told = [
        Text(
            f"{make_safe(file.title)} of {make_safe(file.model)}: {make_safe(str(why))}.", style="bold yellow"
        )
        for file, why in zip(files, none, strict=True)
        if why is not None
    ]
    if any(file.simulated for file in files):
        told.append(Text("SIMULATED: some of these answers are not from a model.", style="bold yellow"))
    return Group(table, *told) if told else table


MISSING_CELL = "–"

NO_SCORE_CELLS = {
    "Accuracy": "no score",
    "Score": "no score",
    "95% CI": MISSING_CELL,
    "95% CI (Wilson)": MISSING_CELL,
}
"""Cells in the rows of the score and its intervals, for a file without any score."""


def _number(value: float | None, form: str = ".4f") -> str:
    return MISSING_CELL if value is None else format(value, form)


def _metric(name: str, form: str) -> Callable[[ResultFile], str]:
    def metric(file: ResultFile) -> str:
        value = file.aggregated_metrics.get(name)
        return _number(value if isinstance(value, int | float) else None, form)

    return metric


def _samples(file: ResultFile) -> str:
    count = file.num_samples if file.num_samples is not None else len(file.sample_results)
    return f"{count:,}"


def _normal_interval(file: ResultFile) -> str:
    from benchwright.catalog.llm_benchmarker_api.metrics import confidence_interval_95

    if not file.sample_results:
        return MISSING_CELL
    low, high = confidence_interval_95([float(sample.correct) for sample in file.sample_results])
    return f"[{low:.4f}, {high:.4f}]"


def _wilson_interval(file: ResultFile) -> str:
    from benchwright.stats.intervals import wilson_interval

    if not file.sample_results:
        return MISSING_CELL
    interval = wilson_interval(
        sum(sample.correct for sample in file.sample_results), len(file.sample_results)
    )
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


METRIC_ROWS: Sequence[tuple[str, Callable[[ResultFile], str]]] = (
    ("Accuracy", lambda file: _number(file.accuracy)),
    ("Samples", _samples),
    ("Score", lambda file: _number(file.score)),
    ("95% CI", _normal_interval),
    ("95% CI (Wilson)", _wilson_interval),
    ("TTFT Mean (s)", _metric("ttft_mean", ".3f")),
    ("TTFT P50 (s)", _metric("ttft_p50", ".3f")),
    ("TTFT P95 (s)", _metric("ttft_p95", ".3f")),
    ("Gen TPS Mean", _metric("generation_tps_mean", ".1f")),
    ("Latency Mean (s)", _metric("latency_mean", ".3f")),
    ("Latency P95 (s)", _metric("latency_p95", ".3f")),
    ("Throughput (req/s)", _metric("effective_throughput_rps", ".2f")),
)
