"""The trials of a run as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.analysis.export.columns import NamesByField, column_types, flatten_row
from benchwright.analysis.export.counted_trials import iso_time
from benchwright.analysis.trial_preview import TrialPreview, read_previews
from benchwright.records import SIDE_ROLE, Record
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import agent_of, harness_of
from benchwright.runs.table import RunTable


class TrialRow(Record, frozen=True):
    """One row per trial: the attempt that counts, with its scores.

    `agent`: the agent that asked the model, empty without one. `started_at`: UTC, ISO 8601. `requests` and the
    token counts: the model's own turns. `side_*`: side requests of an agent (titles, summaries). `scores`: None
    for a score without a value. `spans`: the extracted answers. `input`: the sample's question. `target`: the
    expected answer. `answer`: the model's answer. `explanation`: the reason for the score (see
    `analysis.trial_preview`). `flags`: a line for each flag, with its kind and the evidence.
    """

    run: str
    sample: str
    repeat: int
    slot: str
    model: str
    agent: str
    status: str
    reason: str | None
    group: str | None
    attempt: int
    started_at: str | None
    duration_seconds: float
    requests: int
    prompt_tokens: int
    completion_tokens: int
    side_requests: int
    side_prompt_tokens: int
    side_completion_tokens: int
    reused: bool
    input: str | None
    target: str | None
    answer: str | None
    explanation: str | None
    flags: str | None
    scores: dict[str, float | None]
    spans: dict[str, str | None]
    labels: dict[str, str]


class TrialRows:
    """The trials of a run as rows, in the order in which they were first started.

    The table must be read with `effort=True`. Each iteration first reads new trials into the table.
    """

    def __init__(self, table: RunTable, manifest: Manifest) -> None:
        self._table = table
        self._manifest = manifest
        self._models = {
            target.slot: manifest.typed_models.get(target.slot, target.model) for target in manifest.targets
        }

    def __iter__(self) -> Iterator[TrialRow]:
        table = self._table
        table.read_journal()
        trials = table.read_trials(table.rows_in_start_order(table.counted_rows()))
        for trial, told in read_previews(table.directory, trials):
            yield self._row(trial, told)

    @property
    def columns(self) -> list[tuple[str, type]]:
        """The names of the flat columns and their types: str, int, float or bool."""
        return column_types(TrialRow, self._names())

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows as flat dictionaries whose keys are the names of `columns`, as they are exported."""
        names = self._names()
        for row in self:
            yield flatten_row(row, names)

    def _names(self) -> NamesByField:
        """Return the names of all scores and labels, including those that only some trials have."""
        self._table.read_journal()
        labels = dict.fromkeys(name for labels in self._table.label_sets for name in labels)
        spans = [scorer.name for scorer in self._manifest.scorers]
        return {"scores": list(self._table.scores), "spans": spans, "labels": list(labels)}

    def _row(self, trial: ScoredTrial, told: TrialPreview) -> TrialRow:
        record = trial.record
        own = [request for request in record.requests if request.role == "model"]
        side = [request for request in record.requests if request.role == SIDE_ROLE]
        return TrialRow(
            run=self._manifest.id,
            sample=record.sample,
            repeat=record.repeat,
            slot=record.target,
            model=self._models.get(record.target, ""),
            agent=harness_of(self._manifest) or agent_of(self._manifest),
            status=str(trial.status),
            reason=record.reason,
            group=record.group,
            attempt=record.attempt,
            started_at=iso_time(record.started_at) if record.started_at else None,
            duration_seconds=record.duration / 1e9,
            requests=len(own),
            prompt_tokens=sum(request.prompt_tokens for request in own),
            completion_tokens=sum(request.completion_tokens for request in own),
            side_requests=len(side),
            side_prompt_tokens=sum(request.prompt_tokens for request in side),
            side_completion_tokens=sum(request.completion_tokens for request in side),
            reused=record.reused_from is not None,
            input=told.input,
            target=told.target,
            answer=told.answer,
            explanation=told.explanation,
            flags=_flags(trial),
            scores={**record.scores, **{name: score.value for name, score in trial.scores.items()}},
            spans={name: score.span for name, score in trial.scores.items()},
            labels=record.labels,
        )


def _flags(trial: ScoredTrial) -> str | None:
    return "\n".join(f"{flag.kind}: {flag.evidence}" for flag in trial.flags) or None
