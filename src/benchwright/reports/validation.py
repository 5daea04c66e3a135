"""The results of validating benchmarks, as a table."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from benchwright.catalog.validation import CheckFailure, ValidationResult
from benchwright.text import make_lines_safe, make_safe

MAX_LISTED_FAILURES = 20


def render_validation(validated: Sequence[ValidationResult], left_out: Mapping[str, str]) -> RenderableType:
    """Render a table with one row per benchmark.

    Below the table are the failed checks, the exploits that were tried, leaks, exceptions, and the benchmarks that were
    left out.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("Benchmark", "samples", "checks", "failed", "exceptions", "verdict"):
        table.add_column(
            column, justify="left" if column in ("Benchmark", "verdict") else "right", overflow="fold"
        )
    notes: list[RenderableType] = []
    for entry in validated:
        verdict = Text("failed", style="bold red") if entry.failures else Text("ok", style="green")
        counts = (entry.samples, entry.checks, len(entry.failures), len(entry.exceptions))
        table.add_row(make_safe(entry.name), *(f"{count:,}" for count in counts), verdict)
        for failure in entry.failures[:MAX_LISTED_FAILURES]:
            notes += _told(entry.name, failure)
        if len(entry.failures) > MAX_LISTED_FAILURES:
            more = len(entry.failures) - MAX_LISTED_FAILURES
            notes.append(Text(f"{make_safe(entry.name)}: {more:,} more (see --json)"))
        if entry.exploits:
            notes.append(_exploits(entry))
        if entry.run is not None:
            sample = shlex.quote(make_safe(entry.failures[0].check))
            shown = f"benchwright show {entry.run} --sample {sample}"
            notes.append(Text(f"{make_safe(entry.name)}: the run is kept: {shown}"))
        notes += [
            Text(f"{make_safe(entry.name)} {make_safe(sample)}: {make_safe(line)}", style="yellow")
            for sample, lines in entry.leaks.items()
            for line in lines
        ]
        notes += [
            Text(f"{make_safe(entry.name)} {make_safe(check)}: exception, {make_safe(reason)}", style="dim")
            for check, reason in entry.exceptions.items()
        ]
    for name, reason in left_out.items():
        notes.append(Text(f"{make_safe(name)}: left out. {make_safe(reason)}", style="dim"))
    return Group(table, *notes)


def _exploits(entry: ValidationResult) -> RenderableType:
    """Render a table of the exploits that were tried, with one row for each class of exploits."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(f"Exploits of {make_safe(entry.name)}", overflow="fold")
    for column in ("blocked", "flagged", "unnoticed", "not applicable"):
        table.add_column(column, justify="right")
    for name, tally in entry.exploits.items():
        counts = (tally.blocked, tally.flagged, tally.unnoticed, tally.not_applicable)
        style = "bold red" if tally.unnoticed else ""
        table.add_row(Text(make_safe(name), style=style), *(f"{count:,}" for count in counts))
    return table


def _told(name: str, failure: CheckFailure) -> Iterator[RenderableType]:
    """Yield a failure as one line. Then yield the end of its log."""
    yield Text(f"{make_safe(name)} {make_safe(failure.check)}: {make_safe(failure.said)}", style="red")
    if failure.log:
        yield Padding(Text(make_lines_safe(failure.log), style="dim"), (0, 0, 0, 4), expand=False)
