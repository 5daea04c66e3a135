"""Builds a leaderboard from given runs: its columns, its rows, the ranks, and the data of its plots."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from benchwright.analysis.comparison.side_naming import side_letter, side_names
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.leaderboard.columns import TaskScore, task_scores
from benchwright.analysis.leaderboard.entrants import Entrant, entrants_of
from benchwright.analysis.leaderboard.ranks import PairwiseTest, compute_ranks, test_all_pairs
from benchwright.analysis.leaderboard.records import (
    BoardColumn,
    BoardRow,
    CellStanding,
    Leaderboard,
    LeaderboardCell,
    RowComparison,
    TokenPrice,
)
from benchwright.analysis.leaderboard.row_order import default_sort_key
from benchwright.analysis.leaderboard.rows import RowGroup, RowGrouping, group_entrants
from benchwright.analysis.leaderboard.spending import sum_spending
from benchwright.analysis.load.curves import LoadCurve, LoadCurveCollector
from benchwright.analysis.quality_and_speed.pareto_fronts import FrontCandidate, ParetoFront, fronts
from benchwright.analysis.report.records import DistributionChart
from benchwright.analysis.report.time_charts import time_distributions
from benchwright.analysis.sent_settings import unequal_sampling_sentences
from benchwright.analysis.thinking import thinking_lines
from benchwright.formats import count_with_noun
from benchwright.records import Record
from benchwright.runs.manifest_facts import answering_program_of
from benchwright.statistic import is_number

CONFIDENCE_LEVEL = 0.95

MAX_CURVES = 6
"""Maximum number of rows of the leaderboard whose latencies are drawn in one plot."""


class BoardOptions(Record, frozen=True):
    """Options of a leaderboard.

    `scores`: names of the scores to show; if empty, `task_scores` chooses the scores. `group_by`: `model` if
    each model is a row, `run` if each run is a row. `prices`: mapping from models to prices.
    """

    scores: tuple[str, ...] = ()
    group_by: RowGrouping = "model"
    prices: dict[str, TokenPrice] = {}


class BoardEntry(NamedTuple):
    """A run to show. `slot` restricts it to one target of the run."""

    directory: Path
    slot: str | None = None


def build_leaderboard(chosen: Iterable[BoardEntry], wanted: BoardOptions = BoardOptions()) -> Leaderboard:  # noqa: B008  # frozen
    """Read the runs and rank their targets. In each column, every target is tested against every other target.

    Runs without a score are left out if other runs have one. Load levels are always shown as load curves.

    Raises:
        UserError: If there is no such run or target.
        JournalError: If a journal cannot be read.
    """
    entrants, measured = list[Entrant](), LoadCurveCollector()
    for one in dict.fromkeys(chosen):
        run = RunSides(one.directory, one.directory.name)
        entrants += entrants_of(run, one.slot, wanted.prices)
        measured.add(run.manifest, run.table)
    scored = [one for one in entrants if one.scores]
    return _board(scored or entrants, wanted, measured.curves())


def _board(entrants: Sequence[Entrant], wanted: BoardOptions, curves: list[LoadCurve]) -> Leaderboard:
    columns = task_scores(entrants, wanted.scores)
    found, tests = test_all_pairs(entrants, columns, CONFIDENCE_LEVEL)
    by_column = {column.name: [one for one in found if one.column_name == column.name] for column in columns}
    cells = [_cells(entrants, column, by_column[column.name]) for column in columns]
    rows = [
        _row(entrants, group, [_cell_of(group, column) for column in cells])
        for group in group_entrants(entrants, columns, wanted.group_by)
    ]
    rows.sort(key=lambda row: default_sort_key(row.shown))
    letters = [side_letter(place) for place in range(len(rows))]
    names = side_names([row.shown.title for row in rows], letters)
    placed = {member: letter for row, letter in zip(rows, letters, strict=True) for member in row.members}
    return Leaderboard(
        columns=[_column(entrants, column, by_column[column.name]) for column in columns],
        rows=[
            replace(row.shown, letter=letter, name=name)
            for row, letter, name in zip(rows, letters, names, strict=True)
        ],
        confidence=CONFIDENCE_LEVEL,
        tests=tests,
        pairs=[_pair(one, placed) for one in found],
        fronts={column.name: _fronts(entrants, column, placed) for column in columns},
        distributions={column.name: _distributions(entrants, column, placed) for column in columns},
        load_curves=curves,
        notes=list(dict.fromkeys(_notes(entrants, columns))),
        simulated=any(one.side.facts.simulated for one in entrants),
    )


class _Row(NamedTuple):
    """A row of the leaderboard, and the indices of its entrants (targets of runs)."""

    shown: BoardRow
    members: list[int]


def _row(entrants: Sequence[Entrant], group: RowGroup, cells: list[LeaderboardCell | None]) -> _Row:
    own = [entrants[place] for place in group.entrant_indices]
    spent = sum_spending([one.spending for one in own])
    solved = [one.solved_trials for one in own if one.solved_trials is not None]
    all_solved = sum(solved) if len(solved) == len(own) else None
    thought = [
        one.target.requests.total_reasoning_tokens
        for one in own
        if one.target.requests.total_reasoning_tokens is not None
    ]
    shown = BoardRow(
        letter="",
        name="",
        model=group.model,
        agent=group.agent,
        detail=group.distinguishing_detail,
        runs=list(dict.fromkeys(one.manifest.id for one in own)),
        cells=cells,
        trials=sum(one.target.trials for one in own),
        failed=sum(one.failed_trial_count for one in own),
        seconds=sum(one.target.requests.wall_time_seconds for one in own) or None,
        solved=all_solved,
        cost_per_solved=spent.cost / all_solved if spent.cost is not None and all_solved else None,
        reasoning_tokens=sum(thought) if thought else None,
        reasoning_estimated=any(one.target.requests.estimated_reasoning_requests for one in own),
        **msgspec.structs.asdict(spent),
    )
    return _Row(shown, group.entrant_indices)


def _cells(
    entrants: Sequence[Entrant], column: TaskScore, found: Sequence[PairwiseTest]
) -> dict[int, LeaderboardCell]:
    """Return the cell of each entrant in a column, as a mapping from the entrant's index."""
    placed = compute_ranks(column.entrant_indices, found)
    best = max((_merit(entrants[place], column) for place, rank in placed.items() if rank == 1), default=0.0)
    cells = {}
    for place in column.entrant_indices:
        entrant, score = entrants[place], entrants[place].scores[column.score]
        rank = placed.get(place)
        standing: CellStanding = "alone" if rank is None else "behind" if rank > 1 else "tied"
        if rank == 1 and _merit(entrant, column) == best:
            standing = "best"
        cells[place] = LeaderboardCell(
            run=entrant.manifest.id,
            slot=entrant.target.slot,
            n=score.n,
            n_scored=score.n_scored,
            failed=entrant.failed_trial_count,
            mean=score.mean,
            low=score.low,
            high=score.high,
            method=score.method,
            rank=rank,
            standing=standing,
        )
    return cells


def _merit(entrant: Entrant, column: TaskScore) -> float:
    """Return the sort key of an entrant in a column: its mean, negated if lower is better.

    It is -inf if there is no mean.
    """
    mean = entrant.scores[column.score].mean
    if not is_number(mean):
        return -math.inf
    return -mean if column.lower_is_better else mean


def _cell_of(group: RowGroup, cells: Mapping[int, LeaderboardCell]) -> LeaderboardCell | None:
    return next((cells[place] for place in group.entrant_indices if place in cells), None)


def _column(entrants: Sequence[Entrant], column: TaskScore, found: Sequence[PairwiseTest]) -> BoardColumn:
    scores = [entrants[place].scores[column.score] for place in column.entrant_indices]
    return BoardColumn(
        name=column.name,
        task=column.task,
        score=column.score,
        unit=all(bool(((one.values >= 0) & (one.values <= 1)).all()) for one in scores),
        apart=column.separation_reason,
        pairs=len(found),
        paired=sum(one.difference.n > 0 for one in found),
        tests=list(dict.fromkeys(one.difference.test for one in found)),
        methods=list(dict.fromkeys(one.difference.method for one in found)),
        total=all(one.score_column is None for one in scores),
        scale=", ".join(dict.fromkeys(one.totals_unit for one in scores if one.totals_unit)),
        lower_is_better=column.lower_is_better,
    )


def _pair(one: PairwiseTest, placed: Mapping[int, str]) -> RowComparison:
    found = one.difference
    low, high = (None, None) if found.interval is None else found.interval
    return RowComparison(
        column=one.column_name,
        a=placed[one.a],
        b=placed[one.b],
        n=found.n,
        difference=found.difference,
        verdict=one.verdict,
        method=found.method,
        test=found.test,
        low=low,
        high=high,
        p_value=found.p_value,
        p_adjusted=one.p_adjusted,
    )


def _fronts(entrants: Sequence[Entrant], column: TaskScore, placed: Mapping[int, str]) -> list[ParetoFront]:
    if column.lower_is_better:
        return []  # a front has more quality upwards
    candidates = []
    for place in column.entrant_indices:
        score = entrants[place].scores[column.score]
        candidates.append(
            FrontCandidate(
                placed[place], score.mean, score.low, score.high, entrants[place].resources_per_trial
            )
        )
    return fronts(column.task, column.score, candidates)


def _distributions(
    entrants: Sequence[Entrant], column: TaskScore, placed: Mapping[int, str]
) -> list[DistributionChart]:
    """Return the distributions of the request times of the first `MAX_CURVES` rows that have a cell in a column."""
    rows = list(dict.fromkeys(placed.values()))
    first = sorted(column.entrant_indices, key=lambda place: rows.index(placed[place]))[:MAX_CURVES]
    return time_distributions({placed[place]: entrants[place].side.timings for place in first})


def _notes(entrants: Sequence[Entrant], columns: Sequence[TaskScore]) -> Iterator[str]:
    yield from (
        f"{column.name} is a column of its own: {column.separation_reason}"
        for column in columns
        if column.separation_reason
    )
    for one in entrants:
        facts = one.side.facts
        if facts.state == "decided":
            yield f"{facts.run} stopped early, when its question was decided: it is ranked with no other"
        elif facts.state != "finished":
            yield f"{facts.run} is {facts.state}: only its finished trials count"
        if program := answering_program_of(one.manifest):
            yield f"{facts.run} was made by {program}: its tokens and times are what that wrote down"
        if facts.timings_valid is False:
            yield f"the timings of {facts.run} are invalid: its client was too busy"
        yield from (
            f"{facts.run}, {one.target.name}: {line}" for line in thinking_lines(one.target.thinking_cut_off)
        )
    yield from unequal_sampling_sentences(
        [(f"{one.agent or one.model} in {one.side.facts.run}", one.target.requests) for one in entrants]
    )
    shared = {one.manifest.id for one in entrants if len(one.manifest.targets) > 1}
    if shared:
        yield f"the time of {count_with_noun(len(shared), 'run')} of several models is that of all of them together"
    levels = {one.side.facts.concurrency for one in entrants if "load" not in one.manifest.about}
    if len(levels) > 1:
        told = ", ".join("unknown" if level is None else str(level) for level in sorted(levels, key=_known))
        yield f"the concurrency differs ({told}), so speeds are not those of equal loads"


def _known(level: int | None) -> int:
    return -1 if level is None else level
