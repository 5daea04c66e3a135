"""Audit of a run: looks in the trajectories for evidence that trials were passed without solving their tasks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.analysis.export.counted_trials import CountedTrial, counted_trials
from benchwright.analysis.report.messages import parse_messages
from benchwright.analysis.scores import PassingScore, passing_score
from benchwright.analysis.trial_preview import trial_preview
from benchwright.catalog.containers.auditing import (
    Connection,
    Finding,
    Trajectory,
    audit_trajectory,
    steps_of,
)
from benchwright.catalog.containers.auditing.forbidden_reads import READS_SOLUTION
from benchwright.records import Record
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.manifest_facts import VALIDATION_KIND
from benchwright.runs.table import read_table

TEXT_EDITING_AGENT_PREFIXES = ("aider ",)
"""Prefixes of the names of agents that write files through the text of their answers."""

_INSTANCE = re.compile(r"(?:instance_)?([\w.-]+?)__([\w.-]+?)-(?:\d+|[0-9a-f]{7,}.*)")
"""Regular expression for the id of an instance of a SWE-bench dataset: owner and project, then a number or a
commit.
"""


class AuditedFinding(Record, frozen=True):
    """A finding of the audit in one trial.

    `turn`: the turn of the conversation. None if the finding is in the patch, the network log or the flags.
    `found_by`: `audit_trajectory` for a finding of the audit, `run` for a flag that was raised while the trial ran.
    """

    sample: str
    repeat: int
    target: str
    passed: bool
    kind: str
    weight: str
    line: str
    turn: int | None = None
    found_by: str = "audit"


class RunAudit(Record, frozen=True):
    """The result of an audit of a run.

    `trials`: number of trials. `audited`: number of trials that have commands or a patch. `passes`: number of
    trials that passed. `signs`: number of trials with at least one finding of weight `sign` (strong
    evidence). `suspicious`: number of trials with such a finding that passed. `notes`: number of trials that
    only have findings of weight `note` (weak evidence). `kinds`: mapping from each kind of sign to the number
    of trials with a sign of this kind, the most frequent first.
    """

    run: str
    trials: int
    audited: int
    passes: int
    signs: int
    suspicious: int
    notes: int
    kinds: dict[str, int] = {}
    findings: list[AuditedFinding] = []


def audit_run(directory: Path) -> RunAudit:
    """Audit the counted trials of a run.

    Imported trials are audited as far as their trajectories were imported.

    Raises:
        UserError: If there is no run.
        JournalError: If its journal cannot be read.
    """
    manifest, table = read_manifest(directory), read_table(directory, effort=True)
    passing = passing_score(manifest, table)
    trials = audited = passes = 0
    findings: list[AuditedFinding] = []
    for counted in counted_trials(table):
        trials += 1
        passed = _passed(counted, passing)
        passes += passed
        trajectory = trajectory_of(counted)
        audited += bool(trajectory.steps or trajectory.patch)
        findings += _audited(manifest, counted, trajectory, passed=passed)
    signs = {_trial(one): one.passed for one in findings if one.weight == "sign"}
    kinds = Counter(kind for _, kind in {(_trial(one), one.kind) for one in findings if one.weight == "sign"})
    return RunAudit(
        run=manifest.id,
        trials=trials,
        audited=audited,
        passes=passes,
        signs=len(signs),
        suspicious=sum(signs.values()),
        notes=len({_trial(one) for one in findings} - signs.keys()),
        kinds=dict(kinds.most_common()),
        findings=findings,
    )


def trajectory_of(counted: CountedTrial) -> Trajectory:
    """Return the actions of a trial's agent, read from the trial's body."""
    trial, body = counted.trial, counted.body
    messages = [parsed.message for parsed in parse_messages(body, (), 0, 1 << 30)[0]]
    told = trial_preview(trial, body)
    repository = trial.record.labels.get("repo") or repository_name_of(trial.record.sample)
    submitted = (one.detail.get("model_patch") for one in trial.scores.values() if one.detail)
    return Trajectory(
        instruction=told.input or "",
        repository=repository,
        steps=steps_of(
            messages, edits_in_text=str(body.artifacts.get("agent")).startswith(TEXT_EDITING_AGENT_PREFIXES)
        ),
        patch=str(body.artifacts.get("patch") or next(filter(None, submitted), "")),
        gold_patch=told.target or "" if repository else "",
        has_conversation=bool(messages),
        connections=list(_connections(body.artifacts.get("network"))),
    )


def repository_name_of(sample: str) -> str:
    """Return the project (`owner/name`) of a SWE-bench instance from its id. Empty for other samples."""
    found = _INSTANCE.fullmatch(sample.partition("/")[0])
    return f"{found[1]}/{found[2]}" if found else ""


def _connections(network: Any) -> Iterator[Connection]:
    """Yield the connections that an agent made. Connections made by tests are left out."""
    for one in network if isinstance(network, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("host"), str) and one.get("phase") != "tests":
            port = one.get("port")
            yield Connection(
                one["host"], port if isinstance(port, int) else None, one.get("allowed") is not False
            )


def _audited(
    manifest: Manifest, counted: CountedTrial, trajectory: Trajectory, *, passed: bool
) -> Iterator[AuditedFinding]:
    record = counted.trial.record
    own = (record.sample, record.repeat, record.target, passed)
    flagged = {(flag.kind, flag.evidence) for flag in counted.trial.flags}
    for kind, evidence in sorted(flagged):
        yield AuditedFinding(*own, kind, "sign", evidence, found_by="run")
    for one in audit_trajectory(trajectory):
        if (one.kind, one.line) not in flagged and not _is_expected(manifest, one):
            yield AuditedFinding(*own, one.kind, one.weight, one.line, one.turn)


def _is_expected(manifest: Manifest, finding: Finding) -> bool:
    """Return True if a finding is no evidence of cheating because it is normal in a validation run.

    A validation run applies the task's own solution, and so it reads the folder in which the official harness
    puts that solution.
    """
    return manifest.kind == VALIDATION_KIND and finding.kind == READS_SOLUTION


def _passed(counted: CountedTrial, passing: PassingScore | None) -> bool:
    if passing is None:
        return False
    state, value = counted.score(passing.name)
    return state is not ScoreState.FAILED and passing.passes(value)


def _trial(one: AuditedFinding) -> tuple[str, int, str]:
    return one.sample, one.repeat, one.target
