"""What the tests of the documented cache share: journals written by hand, and runs made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchwright.agents.cache.runs import DocumentedRun, DocumentedRuns
from benchwright.records import (
    Message,
    RequestRecord,
    ScoreRecord,
    Status,
    Target,
    TaskSpec,
    TrialRecord,
    Usage,
)
from benchwright.runs.journal import Journal, TrialBody, encode_json
from benchwright.runs.keys import score_key
from benchwright.runs.manifest import Manifest, ScorerInfo
from benchwright.runs.table import RunTable

SCORERS = ("right", "short")


def manifest(*models: str, repeats: int = 1, pass_threshold: float = 1.0) -> Manifest:
    """The manifest of a run: the first model is the primary, the second the baseline."""
    return Manifest(
        id="run",
        kind="eval",
        name="run",
        fingerprint="0" * 32,
        created_at=1_767_225_600_000_000_000,
        task=TaskSpec("task", "1", "f"),
        targets=[
            Target(slot, model, "http://127.0.0.1:9/v1")
            for slot, model in zip(("primary", "baseline"), models, strict=False)
        ],
        scorers=[ScorerInfo(name, "1") for name in SCORERS],
        repeats=repeats,
        pass_threshold=pass_threshold,
    )


def request(prompt: int = 2, completion: int = 1, role: str = "model") -> RequestRecord:
    return RequestRecord("id", role=role, usage=Usage(prompt_tokens=prompt, completion_tokens=completion))


class HandWritten:
    """A journal that a test writes line by line."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._journal = Journal(directory)

    def key(self, row: int, target: str, repeat: int) -> str:
        return f"{row:06x}{target.encode().hex()[:4]}{repeat:06x}{0:016x}"

    def trial(
        self,
        row: int,
        repeat: int = 0,
        *,
        target: str = "primary",
        status: Status = Status.ANSWERED,
        messages: list[Message] | None = None,
        **fields: Any,
    ) -> None:
        key = self.key(row, target, repeat)
        record = TrialRecord(key=key, sample=str(row), target=target, status=status, repeat=repeat, **fields)
        self._journal.write_trial(record, encode_json(TrialBody(key=key, messages=messages or [])))

    def score(
        self,
        row: int,
        value: float | None,
        repeat: int = 0,
        *,
        target: str = "primary",
        scorer: str = "right",
        status: Status | None = None,
    ) -> None:
        key = self.key(row, target, repeat)
        status = status or (Status.SCORED if value is not None else Status.GRADER_ERROR)
        self._journal.write_lines(ScoreRecord(score_key(key, scorer, "1"), key, scorer, value, status))

    def table(self, manifest: Manifest) -> RunTable:
        """What was written so far."""
        table = RunTable(self.directory, [scorer.name for scorer in manifest.scorers])
        table.read_journal()
        return table

    def runs(self, manifest: Manifest) -> DocumentedRuns:
        """What was written, as documented runs."""
        self._journal.close()
        return DocumentedRuns(self.table(manifest), manifest)


def run(
    row: int, repeat: int, score: float | None, *, tag: str | None = None, tokens: int = 10
) -> DocumentedRun:
    """A run that one scorer scored; None: it failed."""
    return DocumentedRun(
        row_index=row,
        run_index=repeat,
        success=score is not None,
        scores={} if score is None else {"right": score},
        duration_ms=2.5,
        tokens=tokens,
        model_tag=tag,
        error="it failed" if score is None else None,
    )
