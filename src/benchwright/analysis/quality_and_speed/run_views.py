"""Data that the `show` command displays: a run's summary, and quality and speed of each target."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from benchwright.analysis.comparison.side_naming import side_names
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.analysis.quality_and_speed.records import JointView
from benchwright.analysis.quality_and_speed.views import joint_view
from benchwright.analysis.summary_records import RunSummary
from benchwright.runs.manifest import display_names


class RunWithViews(RunSummary, frozen=True):
    """The summary of a run, and quality and speed of each of its targets."""

    joint: Sequence[JointView] = ()


def run_with_views(run: RunSides) -> RunWithViews:
    """Return the data that `show` displays."""
    return RunWithViews(**msgspec.structs.asdict(run.summary), joint=joint_views(run))


def joint_views(run: RunSides, confidence: float = 0.95) -> Sequence[JointView]:
    """Return the joint view of each target that has enough timed trials of its own, in the order of the targets."""
    names = display_names(run.manifest)
    shown = dict(zip(names, side_names(list(names.values()), list(names)), strict=True))
    sides = {slot: run.side(slot) for slot in names}
    views = {slot: joint_view(side, confidence) for slot, side in sides.items()}
    return [replace(view, letter="", name=shown[slot]) for slot, view in views.items() if view is not None]
