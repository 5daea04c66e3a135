"""What `show` shows of a run: its summary, and quality and speed of each target."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from benchwright.analysis.comparison.from_table import RunSides
from benchwright.analysis.joint.records import JointView
from benchwright.analysis.joint.views import joint_view
from benchwright.analysis.summary import RunSummary


class ShownRun(RunSummary, frozen=True):
    """The summary of a run, and quality and speed of each of its targets."""

    joint: Sequence[JointView] = ()


def shown_run(run: RunSides) -> ShownRun:
    """What `show` shows."""
    return ShownRun(**msgspec.structs.asdict(run.summary), joint=joint_views(run))


def joint_views(run: RunSides, confidence: float = 0.95) -> Sequence[JointView]:
    """The view of each target of a run that made timed trials itself, in the order of the targets."""
    sides = (run.side(target.slot) for target in run.manifest.targets)
    views = [view for side in sides if (view := joint_view(side, confidence)) is not None]
    return [msgspec.structs.replace(view, letter="") for view in views]
