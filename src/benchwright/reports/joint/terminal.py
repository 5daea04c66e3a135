"""The joint view of a run for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from benchwright.analysis.joint.records import JointView
from benchwright.reports.comparison.terminal import render_block, render_line
from benchwright.reports.joint.text import joint_blocks, joint_lines


def render_joint(views: Sequence[JointView]) -> RenderableType:
    """The tables, with what must be known of them; each after an empty line."""
    parts: list[RenderableType] = []
    for block in joint_blocks(views):
        parts += [Text(""), *render_block(block)]
    parts += [render_line(line) for line in joint_lines(views) if parts]
    return Group(*parts)
