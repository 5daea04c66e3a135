"""Quality and speed of the same requests: of one run, and of runs at several concurrencies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.analysis.comparison.from_table import RunSides
from benchwright.analysis.joint.concurrency import by_concurrency, why_no_table
from benchwright.analysis.joint.records import ByConcurrency, JointView
from benchwright.analysis.joint.views import joint_view
from benchwright.analysis.summary import RunSummary

__all__ = [
    "ByConcurrency",
    "JointView",
    "ShownRun",
    "by_concurrency",
    "joint_view",
    "joint_views",
    "shown_run",
    "why_no_table",
]


class ShownRun(RunSummary, frozen=True):
    """The summary of a run, and quality and speed of each of its targets."""

    joint: Sequence[JointView] = ()


def shown_run(directory: Path) -> ShownRun:
    """What `show` shows.

    Raises:
        UserError: there is no run.
        JournalError: its journal cannot be read.
    """
    run = RunSides(directory, str(directory))
    return ShownRun(**msgspec.structs.asdict(run.summary), joint=joint_views(run))


def joint_views(run: RunSides, confidence: float = 0.95) -> Sequence[JointView]:
    """The view of each target of a run that made timed trials itself, in the order of the targets."""
    sides = (run.side(target.slot) for target in run.manifest.targets)
    views = [view for side in sides if (view := joint_view(side, confidence)) is not None]
    return [msgspec.structs.replace(view, letter="") for view in views]
