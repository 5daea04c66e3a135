"""`report`: writes runs and result files as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from benchwright import __version__
from benchwright.analysis.comparison.compare import ComparisonOptions, compare_references
from benchwright.analysis.comparison.records import ComparedRun, Comparison
from benchwright.analysis.comparison.references import ResolvedReference, resolve_reference
from benchwright.analysis.comparison.sides_from_table import slots_of
from benchwright.analysis.load.level_results import level_plan_of
from benchwright.analysis.load.load_measurement import read_load_measurement
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.quality_and_speed.pareto_fronts import FrontCandidate, ParetoFront, fronts
from benchwright.analysis.report.chart_means import mean_breakdowns
from benchwright.analysis.report.flips import flips_of
from benchwright.analysis.report.provenance import facts_table
from benchwright.analysis.report.records import Flips, Report
from benchwright.analysis.report.run_sections import ReportRun, read_report_run, report_run_of_file
from benchwright.analysis.report.time_charts import time_distributions
from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.records import Record
from benchwright.reports.html.page import render_report
from benchwright.reports.html.page_style import GENERATOR_TAG
from benchwright.runs.table import RunTable
from benchwright.runs.tags_and_notes import models_of
from benchwright.secrets import SECRETS

MAX_CONVERSATIONS = 300
"""Maximum number of conversations in one report, over all its runs."""


class ReportSettings(Record, frozen=True):
    """Content of a report.

    `samples`: maximum number of conversations shown per run. It is also the maximum number of samples shown whose score
    changed. `anyway`: True to compare runs even if they are not comparable.
    """

    title: str | None = None
    samples: int = 30
    anyway: bool = False


class _Source(NamedTuple):
    """Source of one side of the report: a run and the slot of one of its models, or a result file."""

    named: ResolvedReference
    slot: str | None


def write_report(references: Sequence[str], output: Path, settings: ReportSettings) -> int:
    """Write the report of runs and result files. Return its size in bytes.

    Raises:
        UserError: If a reference matches nothing, or the output file exists and is not a report, or cannot be
            written.
        JournalError: If a journal cannot be read.
    """
    require_free_path(output)
    content = SECRETS.redact(render_report(make_report(references, settings))).encode("utf-8", "replace")
    write_atomically(output, content)
    return len(content)


def require_free_path(output: Path) -> None:
    """Check that the report may be written to this path: nothing exists there, or only an earlier report.

    Raises:
        UserError: If another file or a directory has that name.
    """
    if output.is_dir():
        raise UserError(f"{output} is a directory: give the name of a file.")
    if output.exists():
        with output.open("rb") as file:
            beginning = file.read(2_000)
        if beginning.strip() and GENERATOR_TAG.encode() not in beginning:
            raise UserError(f"{output} exists and is not a report: give another name.")


def make_report(references: Sequence[str], settings: ReportSettings) -> Report:
    """Return the report of these runs and files, with all data read.

    Raises:
        UserError: If a reference matches nothing.
        JournalError: If a journal cannot be read.
    """
    named = [resolve_reference(reference) for reference in references]
    comparison = compare_references(named, ComparisonOptions(allow_incomparable=settings.anyway)).comparison
    sources = list(_sources(named))
    most = min(settings.samples, MAX_CONVERSATIONS // (len(sources) + 1))
    parts = [_part(source, run, most) for source, run in zip(sources, comparison.runs, strict=True)]
    return Report(
        title=settings.title or _title(comparison),
        made_at=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        version=__version__,
        samples=settings.samples,
        runs=[part.section for part in parts],
        comparison=comparison,
        breakdowns=mean_breakdowns([part.task_run for part in parts if part.task_run is not None]),
        flips=list(_flips(comparison, parts, most)),
        distributions=time_distributions({part.section.letter: part.request_times for part in parts}),
        fronts=list(_fronts(parts)),
        loads=_loads(named),
        facts=facts_table([part.facts for part in parts]),
    )


def _sources(named: Sequence[ResolvedReference]) -> Iterator[_Source]:
    """Yield the sides of the report: each model of the named runs, and each result file.

    The order is that of `compare`.
    """
    for one in named:
        if one.run is None:
            sides = one.sides(all_slots=len(named) == 1)
            yield from (_Source(one, side.facts.slot) for side in sides)
        elif one.slot is not None or len(named) > 1:
            yield _Source(one, one.slot)
        else:
            yield from (_Source(one, slot) for slot in slots_of(one.run.manifest))


def _part(source: _Source, run: ComparedRun, most: int) -> ReportRun:
    if source.named.run is not None:
        return read_report_run(source.named.run, run, most)
    sides = source.named.sides(all_slots=True)
    return report_run_of_file(next(side for side in sides if side.facts.slot == source.slot), run)


def _flips(comparison: Comparison, parts: Sequence[ReportRun], most: int) -> Iterator[Flips]:
    by_letter = {part.section.letter: part for part in parts}
    changed = [(pair, score) for pair in comparison.pairs for score in pair.scores if score.changes]
    for pair, score in changed:
        yield flips_of(by_letter[pair.a], by_letter[pair.b], score, -(-most // len(changed)))


def _fronts(parts: Sequence[ReportRun]) -> Iterator[ParetoFront]:
    """Yield the data of plots of quality against speed and tokens.

    There is one plot for each score of a task that has several models.
    """
    found: dict[tuple[str, str], list[FrontCandidate]] = {}
    for part in parts:
        run = part.section
        for score in run.scores:
            candidate = FrontCandidate(run.letter, score.mean_scored, score.low, score.high, run.per_trial)
            found.setdefault((run.task, score.scorer), []).append(candidate)
    for (task, score_name), candidates in found.items():
        yield from fronts(task, score_name, candidates)


def _loads(named: Sequence[ResolvedReference]) -> list[DetailedLoad]:
    """Return the load measurements to which the named runs belong. The runs are levels of these measurements."""
    found: dict[tuple[str, Sequence[str]], list[RunTable]] = {}
    for one in named:
        plan = None if one.run is None else level_plan_of(one.run.manifest)
        if one.run is not None and plan is not None:
            found.setdefault((plan.id, tuple(models_of(one.run.manifest))), []).append(one.run.table)
    loads = [read_load_measurement(tables) for tables in found.values()]
    return [load for load in loads if load is not None]


def _title(comparison: Comparison) -> str:
    """Return a title made from the tasks and models of the report."""
    tasks = list(dict.fromkeys(run.task for run in comparison.runs))
    models = list(dict.fromkeys(run.model for run in comparison.runs))
    named = ", ".join(tasks[:3]) + (" and more" if len(tasks) > 3 else "")
    if len(models) == 2:
        return f"{named}: {models[0]} and {models[1]}"
    return f"{named}: {models[0]}" if len(models) == 1 else f"{named}: {len(models)} models"
