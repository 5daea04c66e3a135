"""Auditing: looks through what an agent did for signs that it passed without solving its task.

trajectory.py  a trial as it is read: steps with their outputs, patch, gold patch, connections
tools.py       calls of agents' tools, by whichever names these go
patches.py     edits that are written down: patches, files in an answer
shell.py       scripts as commands: here-documents, scripts in scripts, encoded ones; with shell_records.py,
               decoding.py and writing.py
reading.py     tests, solutions and rewards that were looked at
history.py     later commits of the repository
network.py     code hosts, hubs of datasets, packages of the project itself
tampering.py   configuration of tests, test runners, programs, what runs at their start
forging.py     marks of harnesses, output and environments of other processes
gold.py        the gold patch, submitted or seen

All of it are pure functions of a trajectory. A finding is a sign or a note; neither changes a score.
"""

from __future__ import annotations

from benchwright.catalog.containers.auditing import forging, gold, history, network, reading, tampering
from benchwright.catalog.containers.auditing.trajectory import Connection, Finding, Step, Trajectory, steps_of

FAMILIES = (reading, history, network, tampering, forging, gold)

__all__ = ["Connection", "Finding", "Step", "Trajectory", "audit", "steps_of"]


def audit(trajectory: Trajectory) -> list[Finding]:
    """What is found in a trial, each once, in the order of its turns; what no turn did comes last."""
    acts = trajectory.acts()
    found = dict.fromkeys(one for family in FAMILIES for one in family.findings(trajectory, acts))
    return sorted(_heaviest(found), key=lambda one: (one.turn is None, one.turn or 0))


def _heaviest(findings: dict[Finding, None]) -> list[Finding]:
    """Of findings that differ in nothing but their weight the sign."""
    signs = {(one.kind, one.line, one.turn) for one in findings if one.weight == "sign"}
    return [one for one in findings if one.weight == "sign" or (one.kind, one.line, one.turn) not in signs]
