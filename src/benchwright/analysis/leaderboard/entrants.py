"""The entrants of a leaderboard, read from each run: the scores of its targets, and their time, tokens and cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.leaderboard.cell_score import CellScore, cell_score_of
from benchwright.analysis.leaderboard.pack_totals import TOTAL_SCORE_NAME, pack_totals
from benchwright.analysis.leaderboard.records import TokenPrice
from benchwright.analysis.leaderboard.spending import Spending, spending_of_requests
from benchwright.analysis.quality_and_speed.pareto_fronts import ResourcesPerTrial, resources_per_trial
from benchwright.analysis.scores import passed_trials_mask, passing_score
from benchwright.analysis.shortfalls import count_failed_trials
from benchwright.analysis.summary_records import TargetSummary
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import given_name, suite_of


class Entrant(NamedTuple):
    """A target of a run, as it enters the leaderboard.

    The first score of a pack's run is the pack's own total.

    `resources_per_trial`: time, tokens and cost of one trial. `spending`: totals over all trials.
    `solved_trials`: number of passed trials that the run made itself (not reused); None if passing is not
    defined.
    """

    side: Side
    manifest: Manifest
    target: TargetSummary
    scores: Mapping[str, CellScore]
    resources_per_trial: ResourcesPerTrial
    spending: Spending
    solved_trials: int | None

    @property
    def model(self) -> str:
        """The model, as the user typed it."""
        return self.side.facts.model

    @property
    def agent(self) -> str:
        """The command-line agent that asked the model. Empty without one."""
        return self.side.facts.agent

    @property
    def task(self) -> str:
        """The name of the entrant's task.

        In a suite, it is the given name of an eval, because several evals may share a dataset.
        """
        own = self.manifest.kind == "eval" and suite_of(self.manifest) and given_name(self.manifest)
        return own or self.side.facts.task

    @property
    def failed_trial_count(self) -> int:
        """Number of failed trials."""
        return count_failed_trials(self.target.statuses)


def entrants_of(run: RunSides, slot: str | None, prices: Mapping[str, TokenPrice]) -> Iterator[Entrant]:
    """Yield the targets of a run as entrants. If `slot` is given, yield only the target in this slot.

    Entrants keep no reference to the run's table.

    Raises:
        UserError: If the run has no such target.
    """
    totals = pack_totals(run.manifest, run.table) if run.manifest.kind == "pack" else {}
    for side in run.sides() if slot is None else [run.side(slot)]:
        target = next(one for one in run.summary.targets if one.slot == side.facts.slot)
        spent = spending_of_requests(target.requests, prices.get(side.facts.model))
        takes = resources_per_trial(side)
        if spent.cost is not None and target.trials > target.reused:
            takes = replace(takes, cost=spent.cost / (target.trials - target.reused))
        side = replace(side, extracted_answers=lambda score, wanted: {}, prompt_digests=lambda: None)
        scores = _scores(run.manifest, side, target)
        if target.slot in totals:
            scores = {TOTAL_SCORE_NAME: totals[target.slot], **scores}
        yield Entrant(side, run.manifest, target, scores, takes, spent, _solved(run, target))


def _solved(run: RunSides, target: TargetSummary) -> int | None:
    """Return the number of passed trials that the run made itself (not reused). None if nothing was scored."""
    import numpy as np

    passed, passing = passed_trials_mask(run.manifest, run.table), passing_score(run.manifest, run.table)
    if passed is None or passing is None or _unscored(target, passing.name):
        return None
    rows = run.table.counted_mask(target.slot)
    own = run.table.reused.numbers(np.arange(len(run.table))) == 0
    return int(np.count_nonzero(passed & rows & own))


def _unscored(target: TargetSummary, score: str) -> bool:
    return any(one.scorer == score and one.no_score is not None for one in target.scores)


def _scores(manifest: Manifest, side: Side, target: TargetSummary) -> dict[str, CellScore]:
    """Return the scores that the summary shows. A benchmark's score is named `score`, as in a comparison."""
    found = {}
    for summary in target.scores:
        name = "score" if manifest.kind == "benchmark" else summary.scorer
        column = side.trials.scores.get(name)
        if column is not None:
            found[summary.scorer] = cell_score_of(summary, column)
    return found
