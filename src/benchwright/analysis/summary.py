"""The summary of a run, computed from its table: scores with denominators and intervals, statuses, speed.

It counts by two rules. By the documented rule, a trial without a value counts as 0 (`mean`, `std`, pass@k). By
the honest rule (`runs.counting`), a trial without an answer counts as 0, and failures are left out
(`mean_scored`, with `n_scored` of `n`). `bounds` are the lowest and highest mean if the failures had been
scored. If every trial failed, each of these figures is the same `NoScore`.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from benchwright.analysis.benchmark_figures_file import read_figures
from benchwright.analysis.deciding.decision import decision_of
from benchwright.analysis.differences import differences
from benchwright.analysis.equal_repeats import find_equal_repeats
from benchwright.analysis.judged.certificate import certificate_of
from benchwright.analysis.judged.records import judge_of
from benchwright.analysis.pass_at_k import pass_at_k_of
from benchwright.analysis.request_summary import request_summary
from benchwright.analysis.scores import mean_of, mean_with_interval, score_values_of
from benchwright.analysis.shortfalls import shortfalls
from benchwright.analysis.summary_records import RunSummary, ScoreSummary, TargetSummary
from benchwright.analysis.suspicious_passes import suspicious_passes
from benchwright.analysis.thinking import thinking_cut_off
from benchwright.analysis.timings import timings_note
from benchwright.catalog.benchmark import Figure
from benchwright.records import Target
from benchwright.runs.columns import filter_rows
from benchwright.runs.concurrency_history import ConcurrencyHistory
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.manifest import Manifest, display_names, origin_of, planned_trials, read_manifest
from benchwright.runs.manifest_facts import harness_of, title_of
from benchwright.runs.request_figures import RequestFigures
from benchwright.runs.sessions import Sessions
from benchwright.runs.table import RunTable, read_table
from benchwright.runs.tags_and_notes import read_note
from benchwright.statistic import NoScore

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_FAILURE_REASONS = 5


def summary_of(directory: Path) -> RunSummary:
    """Read a run and return its summary.

    Raises:
        UserError: If there is no run.
        JournalError: If its journal cannot be read.
    """
    return summarise(read_manifest(directory), read_table(directory))


def summarise(manifest: Manifest, table: RunTable) -> RunSummary:
    """Return the summary of a run, based on the trials that were read into its table so far."""
    sessions = copy.deepcopy(table.sessions)
    sessions.end_session()
    targets = [_target_summary(manifest, table, target, sessions) for target in manifest.targets]
    if manifest.kind == "benchmark":
        targets = with_figures(targets, read_figures(table.directory))
    decision = decision_of(table.directory, manifest, table)
    return RunSummary(
        run=manifest.id,
        kind=manifest.kind,
        name=title_of(manifest),
        state=sessions.state,
        planned=sessions.planned if sessions.started_at else planned_trials(manifest) or None,
        done=sum(target.trials for target in targets),
        repeats=manifest.repeats,
        targets=targets,
        lag=sessions.lag,
        timings_valid=not sessions.lag.spoils_timings,
        simulated=table.simulated,
        stop_reason=sessions.stop_reason,
        cpu_seconds=round(sessions.cpu_seconds, 3),
        differences=[] if decision and sessions.state != "finished" else differences(manifest, table),
        concurrency=_concurrency(manifest, sessions.paces),
        found_concurrency=_found_concurrency(sessions.paces),
        shortfalls=shortfalls(manifest, targets),
        timings_note=timings_note(manifest, sessions.lag, sessions.paces),
        note=read_note(table.directory),
        decision=decision,
        origin=origin_of(manifest),
    )


def with_figures(
    targets: Sequence[TargetSummary], figures: Mapping[str, list[Figure]]
) -> list[TargetSummary]:
    """Return the targets with the figures that the benchmark itself defines. `figures`: mapping from the slot."""
    return [replace(target, figures=figures.get(target.slot, [])) for target in targets]


def _concurrency(manifest: Manifest, paces: ConcurrencyHistory) -> int | None:
    if not paces.found:
        return manifest.concurrency
    levels = {*paces.settled, *([manifest.concurrency] if paces.given else [])}
    return levels.pop() if len(levels) == 1 else None


def _found_concurrency(paces: ConcurrencyHistory) -> list[int]:
    return paces.settled or [level for level in (paces.last,) if level is not None]


def _target_summary(manifest: Manifest, table: RunTable, target: Target, sessions: Sessions) -> TargetSummary:
    rows = table.counted_mask(target.slot)
    requests = table.requests.get(target.slot) or RequestFigures()
    statuses = table.status_counts(rows)
    return TargetSummary(
        slot=target.slot,
        model=target.model,
        base_url=target.base_url,
        trials=int(rows.sum()),
        statuses=statuses,
        scores=[_score_summary(manifest, table, name, target.slot, rows) for name in table.scores],
        requests=request_summary(requests, sessions),
        other_roles=requests.other_roles,
        reused=sum(n for reused, n in table.reused.value_counts(rows) if reused),
        failures=dict(islice(table.failure_reasons(rows).items(), MAX_FAILURE_REASONS)),
        cut_off=len(table.cut_off_rows(target.slot)),
        equal_repeats=find_equal_repeats(manifest, table, target),
        name=display_names(manifest)[target.slot],
        suspicious=suspicious_passes(manifest, table, rows),
        agent=harness_of(manifest),
        thinking_cut_off=thinking_cut_off(target, statuses),
    )


def _score_summary(
    manifest: Manifest, table: RunTable, name: str, slot: str, rows: NDArray[np.bool_]
) -> ScoreSummary:
    import numpy as np

    from benchwright.stats.documented_statistics import documented_statistics

    found = score_values_of(manifest, table, name, rows)
    result = mean_of(found)
    shown, scored = mean_with_interval(result), not isinstance(result, NoScore)
    padded = (
        np.concatenate([found.values, np.zeros(found.failed_count)]) if found.failed_count else found.values
    )
    documented = documented_statistics(padded)
    n = found.trial_count
    return ScoreSummary(
        scorer=name,
        n=n,
        n_scored=len(found.values),
        unparsed=_scored_as(table, name, rows, ScoreState.NO_ANSWER),
        grader_errors=_scored_as(table, name, rows, ScoreState.FAILED),
        documented_mean=documented.mean,
        documented_std=documented.std,
        documented_min=documented.min,
        documented_max=documented.max,
        mean_scored=shown.mean,
        low=shown.low,
        high=shown.high,
        method=result.method if not isinstance(result, NoScore) else "none",
        n_samples=result.n_samples if not isinstance(result, NoScore) else 0,
        n_groups=result.n_groups if not isinstance(result, NoScore) else None,
        between=result.between if not isinstance(result, NoScore) else None,
        within=result.within if not isinstance(result, NoScore) else None,
        bounds=found.mean_bounds,
        passes=pass_at_k_of(manifest, table, name, rows) if scored else [],
        no_answer=found.no_answer_count,
        judge=judge_of(manifest, name),
        certificate=certificate_of(manifest, table, name, slot),
    )


def _scored_as(table: RunTable, name: str, rows: NDArray[np.bool_], state: ScoreState) -> int:
    """Return the number of trials in `rows` to which the scorer gave this state."""
    import numpy as np

    found = filter_rows(rows, table.scores[name].states(rows) == state)
    return int(np.count_nonzero(found & table.scored_mask(name)))
