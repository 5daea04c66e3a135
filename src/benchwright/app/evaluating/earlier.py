"""What earlier runs have of an eval's conversations, and what is said of it."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.engine.earlier import EarlierRun
from benchwright.engine.plan import Plan
from benchwright.errors import UserError
from benchwright.text import Say

LARGEST_OFFER = 20_000
"""Trials of a plan up to which it is worth counting what earlier runs have of it."""


def offer(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    """Says how many conversations --reuse would keep, if any."""
    if not runs or plan.trial_count > LARGEST_OFFER:
        return
    known = _count_known(plan, runs)
    if known:
        say(
            f"{known:,} of {plan.trial_count:,} conversations from earlier runs are still valid; --reuse keeps them."
        )


def check_known(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    """Says how many trials --rescore leaves out.

    Raises:
        UserError: it would leave out all.
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
