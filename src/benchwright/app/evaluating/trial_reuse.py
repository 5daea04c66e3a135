"""Conversations of earlier runs that an eval can reuse, and the messages about them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from benchwright.app.run_lookup.eval_cache import EvalCacheLookup
from benchwright.config import EvalResuming
from benchwright.engine.plan import Plan
from benchwright.engine.trial_reuse import NO_REUSE, EarlierRun, Reuse
from benchwright.errors import UserError
from benchwright.text import Say

MAX_EARLIER_RUNS = 20
MAX_RUNS_FOR_REUSE_HINT = 3
"""`MAX_EARLIER_RUNS`: maximum number of earlier runs that are searched with --reuse or --rescore.

`MAX_RUNS_FOR_REUSE_HINT`: maximum number that is searched without these options, only to offer --reuse.
"""

MAX_TRIALS_FOR_REUSE_HINT = 20_000
"""Maximum number of trials in a plan for which --reuse is offered.

Counting the reusable trials of a larger plan would take long.
"""


def find_reuse(resuming: EvalResuming, plan: Plan, lookup: EvalCacheLookup, say: Say) -> Reuse:
    """Find the conversations of earlier runs that a new run takes over because of --reuse or --rescore.

    Without these options, the run takes over none. In that case, report how many --reuse would take over, if there are
    any. This is not reported with --fresh, or if this configuration has a run to resume or show.

    Raises:
        UserError: If --rescore is given and there is nothing to score.
    """
    wanted = resuming.reuse or resuming.rescore
    if not wanted and (resuming.fresh or lookup.has_entry()):
        return NO_REUSE
    most = MAX_EARLIER_RUNS if wanted else MAX_RUNS_FOR_REUSE_HINT
    runs = tuple(EarlierRun(path) for path in islice(lookup.earlier_runs(), most))
    if not wanted:
        _offer(plan, runs, say)
        return NO_REUSE
    if resuming.rescore:
        _check_known(plan, runs, say)
    return Reuse(runs, reuses_scores=not resuming.rescore, asks_no_model=resuming.rescore)


def _offer(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    """Report how many conversations --reuse would take over, if there are any."""
    if not runs or plan.trial_count > MAX_TRIALS_FOR_REUSE_HINT:
        return
    known = _count_known(plan, runs)
    if known:
        say(
            f"{known:,} of {plan.trial_count:,} conversations from earlier runs are still valid; --reuse keeps them."
        )


def _check_known(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    """Report how many trials --rescore leaves out, because no earlier run has their conversations.

    Raises:
        UserError: If --rescore would leave out all trials.
    """
    known = _count_known(plan, runs)
    if not known:
        raise UserError(
            "No earlier conversations of this configuration to rescore; run it without --rescore."
        )
    if known < plan.trial_count:
        say(
            f"{plan.trial_count - known:,} of {plan.trial_count:,} trials have no earlier conversation and are skipped."
        )


def _count_known(plan: Plan, runs: Sequence[EarlierRun]) -> int:
    return sum(any(trial.key in run for run in runs) for trial in plan.trials())
