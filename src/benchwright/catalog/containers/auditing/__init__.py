"""Auditing: searches an agent's actions for signs that it passed without solving its task.

trajectory.py  input of an audit: steps with their outputs, patch, gold patch, connections
tools.py       calls of agents' tools, under any of their names
patches.py     edits that are written down: patches, files in an answer
shell.py       scripts as commands: here-documents, scripts in scripts, encoded ones; with shell_records.py,
               decoding.py and writing.py
reading.py     access to tests, solutions and rewards
history.py     later commits of the repository
network.py     code hosts, dataset hubs, packages of the project itself
tampering.py   test configuration, test runners, programs, start-up files
forging.py     marks of harnesses, output and environments of other processes
gold.py        the gold patch, submitted or seen

All checks are pure functions of a trajectory. A finding is a sign or a note. Neither changes a score.
"""

from __future__ import annotations

from benchwright.catalog.containers.auditing import forging, gold, history, network, reading, tampering
from benchwright.catalog.containers.auditing.trajectory import Connection, Finding, Step, Trajectory, steps_of

FAMILIES = (reading, history, network, tampering, forging, gold)

__all__ = ["Connection", "Finding", "Step", "Trajectory", "audit", "steps_of"]


def audit(trajectory: Trajectory) -> list[Finding]:
    """Return the findings in a trial, each once, in the order of their turns.

    Findings without a turn come last.
    """
    acts = trajectory.acts()
    found = dict.fromkeys(one for family in FAMILIES for one in family.findings(trajectory, acts))
    return sorted(_heaviest(found), key=lambda one: (one.turn is None, one.turn or 0))


def _heaviest(findings: dict[Finding, None]) -> list[Finding]:
    """Keep only the sign among findings that differ in nothing but their weight."""
    signs = {(one.kind, one.line, one.turn) for one in findings if one.weight == "sign"}
    return [one for one in findings if one.weight == "sign" or (one.kind, one.line, one.turn) not in signs]
