"""What the tests of auditing share: trajectories of a few commands, and what is found in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.catalog.containers.auditing import Step, Trajectory, audit_trajectory

Said = str | tuple[str, str]
"""A command that printed something, or a command with its output."""

PROJECT = "django/django"


def steps(said: Sequence[Said]) -> list[Step]:
    """One step a turn."""
    pairs = [(one, "something\n") if isinstance(one, str) else one for one in said]
    return [Step(turn, command, output) for turn, (command, output) in enumerate(pairs, 1)]


def found(*said: Said, weight: str = "sign", **trajectory: Any) -> list[str]:
    """The kinds of what is found in the commands, each once."""
    findings = audit_trajectory(Trajectory(steps=steps(said), **trajectory))
    return list(dict.fromkeys(one.kind for one in findings if one.weight == weight))
