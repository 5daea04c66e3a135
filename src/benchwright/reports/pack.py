"""Results of packs: the matrix of scenarios by models, the scores as bars, a report in Markdown, and CSV rows."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchwright.formats import format_duration, number_text
from benchwright.packs.repeats import majority_status
from benchwright.packs.results import Attempt, CellState, PackResults, PackScore
from benchwright.packs.task import PackRunSetup
from benchwright.packs.types import BenchmarkScore, RegisteredModel, ScenarioMeta
from benchwright.statistic import numeric_statistics
from benchwright.text import escape_formula, make_safe

STATUS_SIGNS = {
    "pass": ("✓", "green"),
    "partial": ("!", "yellow"),
    "fail": ("✗", "red"),
    "error": ("⚠", "magenta"),
}
RUNNING, NOTHING = ("●", "cyan"), ("-", "dim")
BAR_WIDTH = 20
"""Width of a full bar in characters."""


def render_matrix(
    models: Mapping[str, RegisteredModel],
    scenarios: Sequence[ScenarioMeta],
    cells: Mapping[tuple[str, str], CellState],
    columns: int = 100,
) -> RenderableType:
    """Render the matrix of a pack's results: scenarios as rows, models as columns.

    If the models do not fit into `columns` characters, the matrix is transposed.
    """
    wide = 30 + 14 * len(models) <= columns
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    if wide:
        table.add_column("Scenario", overflow="fold", max_width=40)
        for model in models.values():
            table.add_column(make_safe(model.label), overflow="fold", max_width=20)
        for scenario in scenarios:
            name = f"{scenario.id}  {scenario.title}"
            table.add_row(make_safe(name), *(cell_text(cells.get((slot, scenario.id))) for slot in models))
        return table
    table.add_column("Model", overflow="fold", max_width=24)
    for scenario in scenarios:
        table.add_column(make_safe(scenario.id), no_wrap=True)
    for slot, model in models.items():
        signs = (cell_sign(cells.get((slot, scenario.id))) for scenario in scenarios)
        table.add_row(make_safe(model.label), *signs)
    return table


def cell_text(cell: CellState | None) -> Text:
    """Return the text of a cell (one scenario with one model): a sign for each attempt, and the attempts' duration."""
    text = cell_sign(cell)
    if cell is not None and cell.attempts and cell.running_since is None:
        text.append(f" {format_duration(cell.seconds)}", style="dim")
    return text


def cell_sign(cell: CellState | None) -> Text:
    """Return the signs of a cell (one scenario with one model).

    There is one for each attempt, also for a running attempt.
    """
    if cell is None or (not cell.attempts and cell.running_since is None):
        return Text(*NOTHING)
    text = Text()
    for status in cell.attempts:
        text.append(*STATUS_SIGNS.get(status, STATUS_SIGNS["fail"]))
    if cell.running_since is not None:
        text.append(*RUNNING)
    return text


def render_scores(models: Mapping[str, RegisteredModel], scores: Mapping[str, PackScore]) -> RenderableType:
    """Render the scores that the pack computed: the total, a remark, and the categories as bars."""
    parts: list[RenderableType] = []
    highest = max([_highest(one.score) for one in scores.values() if one.score is not None], default=0.0)
    for slot, one in scores.items():
        label, total = make_safe(models[slot].label), make_safe(one.total) or "no score"
        text = f"{label}: {total}  {make_safe(one.remark)}".rstrip()
        parts.append(Text(text, style="bold" if one.is_complete else "red"))
        if one.score is not None and one.is_complete:
            parts.append(_categories(one.score, highest))
    return Group(*parts)


def _highest(score: BenchmarkScore) -> float:
    return max(numeric_statistics(category.score for category in score.categories), default=0.0)


def _categories(score: BenchmarkScore, highest: float) -> RenderableType:
    """Render the categories of a score as bars.

    `highest`: the highest value. If it is at most 1, a full bar stands for 1. If it is at most 100, a full bar stands
    for 100. Otherwise a full bar stands for `highest`.
    """
    full = 1.0 if highest <= 1 else 100.0 if highest <= 100 else highest
    table = Table.grid(padding=(0, 2))
    for category in score.categories:
        value = category.score
        bar = "█" * round(BAR_WIDTH * min(1.0, max(0.0, value) / full)) if full and value is not None else ""
        unit = "" if category.unit is None or value is None else f" {make_safe(category.unit)}"
        weight = "" if category.weight is None else f"weight {category.weight:g}"
        table.add_row(
            Text(make_safe(category.label), overflow="fold"),
            Text(f"{bar:{BAR_WIDTH}}", style="green"),
            Text(f"{number_text(value, 'g')}{unit}", overflow="fold"),
            Text(weight, style="dim"),
        )
    return table


def cell_status_text(attempts: Sequence[str]) -> str:
    """Describe a cell (one scenario with one model) by the statuses of its attempts.

    If there are errors, return their number. Otherwise return the most frequent status and the number of passes.
    """
    if len(attempts) == 1:
        return attempts[0]
    if errors := attempts.count("error"):
        return f"error ({errors}/{len(attempts)})"
    return f"{majority_status(attempts)} ({attempts.count('pass')}/{len(attempts)})"


def attempt_rows(setup: PackRunSetup, results: PackResults) -> Iterator[dict[str, Any]]:
    """Yield one row for each attempt, as a dictionary whose keys are the names of the CSV columns."""
    for slot, cells in results.attempts.items():
        for attempts in cells.values():
            for attempt in attempts:
                yield {"pack": setup.manifest.id, **_row(attempt, setup.models[slot])}


def _row(attempt: Attempt, model: RegisteredModel) -> dict[str, Any]:
    result = attempt.result
    return {
        "model": model.id,
        "scenario": attempt.scenario,
        "repeat": attempt.repeat,
        "outcome": str(attempt.status),
        "status": attempt.result_word,
        "score": result.get("score"),
        "points": result.get("points"),
        "error_type": result.get("errorType"),
        "duration_ms": round(attempt.duration / 1e6, 3),
        "requests": attempt.requests,
        "prompt_tokens": attempt.prompt_tokens,
        "completion_tokens": attempt.completion_tokens,
        "summary": make_safe(str(result.get("summary", ""))),
    }


def as_csv(runs: Sequence[tuple[PackRunSetup, PackResults]]) -> str:
    """Render all attempts of several runs as CSV. Cells that spreadsheets would treat as formulas are escaped."""
    rows = [row for setup, results in runs for row in attempt_rows(setup, results)]
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow({name: escape_formula(value) for name, value in row.items()})
    return text.getvalue()


def as_markdown(setup: PackRunSetup, results: PackResults, scores: Mapping[str, PackScore]) -> str:
    """Render a pack's results as Markdown to share: the scores, then the matrix of scenarios by models."""
    name, version, models = setup.manifest.name, setup.manifest.version, setup.models
    partly = (
        [f"{setup.scenario_count_text.capitalize()}.", ""]
        if len(setup.scenarios) < setup.listed_scenario_count
        else []
    )
    lines = [
        f"### {escape_markdown(name)} {escape_markdown(version)}",
        "",
        *partly,
        "| Model | Score | Summary |",
        "|---|---|---|",
    ]
    for slot, one in scores.items():
        row = (models[slot].label, one.total or "–", one.remark)
        lines.append(f"| {' | '.join(escape_markdown(cell) for cell in row)} |")
    scenarios = list(dict.fromkeys(name for cells in results.attempts.values() for name in cells))
    lines += [
        "",
        f"| Model | {' | '.join(map(escape_markdown, scenarios))} |",
        f"|---|{'---|' * len(scenarios)}",
    ]
    for slot, cells in results.attempts.items():
        signs = [_markdown_cell(cells.get(scenario, [])) for scenario in scenarios]
        lines.append(f"| {escape_markdown(models[slot].label)} | {' | '.join(signs)} |")
    return "\n".join(lines) + "\n"


def _markdown_cell(attempts: Sequence[Attempt]) -> str:
    if not attempts:
        return ""
    return cell_status_text([attempt.result_word for attempt in attempts])


def escape_markdown(text: str) -> str:
    """Escape text from outside for Markdown."""
    return re.sub(r"[\\`*_~|\[\]!]", r"\\\g<0>", make_safe(text).replace("&", "&amp;").replace("<", "&lt;"))
