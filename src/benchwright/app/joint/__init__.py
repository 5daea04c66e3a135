"""Quality and speed of the same requests: of one run, and of runs at several concurrencies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchwright.app.comparing.from_journal import read_side
from benchwright.app.joint.concurrency import by_concurrency, why_no_table
from benchwright.app.joint.views import joint_view
from benchwright.app.results import summary_of
from benchwright.engine.manifest import read_manifest
from benchwright.engine.summary import RunSummary
from benchwright.reports.joint.records import ByConcurrency, JointView

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
    summary = summary_of(directory)
    return ShownRun(**msgspec.structs.asdict(summary), joint=joint_views(directory, summary))


def joint_views(
    directory: Path, summary: RunSummary | None = None, confidence: float = 0.95
) -> Sequence[JointView]:
    """The view of each target of a run that made timed trials itself, in the order of the targets.

    Raises:
        UserError: there is no run.
        JournalError: its journal cannot be read.
    """
    slots = [target.slot for target in read_manifest(directory).targets]
    sides = (read_side(directory, str(directory), slot, summary) for slot in slots)
    views = [view for side in sides if (view := joint_view(side, confidence)) is not None]
    return [msgspec.structs.replace(view, letter="") for view in views]
