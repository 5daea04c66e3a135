"""Auditing: searches an agent's actions for evidence that it passed without solving its task.

trajectory.py        input of an audit: steps with their outputs, patch, gold patch, connections
tool_effects.py      tool calls of various agents, converted to shell commands and file edits
written_edits.py     edits written as text: `apply_patch` patches, files in a response
shell.py             shell scripts split into commands, with here-documents, nested and encoded scripts;
                     helped by shell_splitter.py, shell_records.py, decoding.py and file_writes.py
forbidden_reads.py   reads of tests, solutions and rewards; forbidden_paths.py has their paths
later_commits.py     use of later commits of the repository
answer_lookups.py    use of code hosts, dataset hubs, published packages of the project itself
tampering.py         changes to test configuration, test runners, programs, start-up files
forged_verdicts.py   forged harness output, access to output or environment of other processes
gold_patch.py        gold patch submitted, or seen before the agent's first edit

All checks are pure functions of a trajectory. A finding has a weight. A "sign" makes a pass suspicious. A
"note" is worth a look. Neither of them changes a score.
"""

from __future__ import annotations

from benchwright.catalog.containers.auditing import (
    answer_lookups,
    forbidden_reads,
    forged_verdicts,
    gold_patch,
    later_commits,
    tampering,
)
from benchwright.catalog.containers.auditing.trajectory import Connection, Finding, Step, Trajectory, steps_of

DETECTORS = (forbidden_reads, later_commits, answer_lookups, tampering, forged_verdicts, gold_patch)

__all__ = ["Connection", "Finding", "Step", "Trajectory", "audit_trajectory", "steps_of"]


def audit_trajectory(trajectory: Trajectory) -> list[Finding]:
    """Return the findings for a trial without duplicates, in the order of their turns.

    Findings that belong to no turn come last.
    """
    acts = trajectory.parse_actions()
    found = dict.fromkeys(one for family in DETECTORS for one in family.findings(trajectory, acts))
    return sorted(_heaviest(found), key=lambda one: (one.turn is None, one.turn or 0))


def _heaviest(findings: dict[Finding, None]) -> list[Finding]:
    """Drop each finding of weight "note" if another finding differs from it only by the weight "sign"."""
    signs = {(one.kind, one.line, one.turn) for one in findings if one.weight == "sign"}
    return [one for one in findings if one.weight == "sign" or (one.kind, one.line, one.turn) not in signs]
