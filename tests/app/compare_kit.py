"""What the tests of comparisons share: runs of made-up trials, written through the engine's own journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchwright.records import (
    SIMULATED_FLAG,
    Record,
    RequestRecord,
    RunEvent,
    ScoreRecord,
    Status,
    Target,
    TaskSpec,
    TrialRecord,
    Usage,
)
from benchwright.runs.journal import Journal, TrialBody, encode_json
from benchwright.runs.keys import fingerprint
from benchwright.runs.manifest import DataFile, Manifest, ScorerInfo, write_manifest

SECOND = 1_000_000_000
STARTED = 1_800_000_000 * SECOND


class Made(Record, frozen=True):
    """A trial to be written: its score by `exact` (None: unparsed), or the status it failed with.

    With `own` it is these scores of the solver's, and no scorer's. `begun` counts seconds from the run's start. `flags`
    are kinds with their evidence, and go into the `detail` of the score; `odd` are flags of the request. `gold` is the
    expected answer.
    """

    sample: str
    value: float | None = 1.0
    repeat: int = 0
    group: str | None = None
    failed: Status | None = None
    span: str | None = None
    answer: str = "an answer"
    asked: str | None = None
    gold: str | None = None
    ttft: float | None = 0.1
    latency: float = 1.0
    attempt: int = 0
    slot: str = "primary"
    reused: bool = False
    simulated: bool = False
    own: dict[str, float] = {}
    begun: float = 0.0
    usage: Usage = Usage(10, 5)
    flags: dict[str, str] = {}
    odd: list[str] = []
    detail: dict[str, Any] = {}


def made(values: Iterable[float | None], **more: Any) -> list[Made]:
    """One trial for each value, samples numbered from 0."""
    return [Made(str(number), value, **more) for number, value in enumerate(values)]


def write_run(directory: Path, trials: Sequence[Made], *, finished: bool = True, **changes: Any) -> Path:
    """Writes a run; `changes` are fields of its manifest. Returns its directory."""
    manifest = Manifest(
        id=directory.name,
        kind="eval",
        name="questions-model",
        fingerprint=fingerprint(directory.name),
        created_at=STARTED,
        task=TaskSpec("questions", "1", "solver 1"),
        targets=[Target("primary", "model", "http://127.0.0.1:9/v1")],
        scorers=[ScorerInfo("exact", "rule 1")],
        repeats=1 + max((trial.repeat for trial in trials), default=0),
        concurrency=4,
        data=[DataFile("questions.jsonl", "0" * 32, len(trials))],
    )
    write_manifest(directory, msgspec.structs.replace(manifest, **changes))
    journal = Journal(directory)
    journal.write_lines(RunEvent("started", STARTED, {"total": len(trials)}))
    for number, trial in enumerate(trials):
        _write_trial(journal, number, trial)
    if finished:
        journal.write_lines(RunEvent("finished", STARTED + SECOND, {}))
    journal.close()
    return directory


def _write_trial(journal: Journal, number: int, trial: Made) -> None:
    key = fingerprint(trial.sample, trial.repeat, trial.slot)
    failed = trial.failed is not None
    request = RequestRecord(
        id=f"{key}-{trial.attempt}",
        ttft=None if trial.ttft is None or failed else round(trial.ttft * SECOND),
        total=round(trial.latency * SECOND),
        usage=trial.usage,
        error="HTTP 500" if failed else None,
        flags=[*trial.odd, SIMULATED_FLAG] if trial.simulated else trial.odd,
    )
    messages = [{"role": "user", "content": trial.asked or f"question {trial.sample}"}]
    body = TrialBody(key, answer=trial.answer, messages=messages, target=trial.gold)
    record = TrialRecord(
        key=key,
        sample=trial.sample,
        target=trial.slot,
        status=trial.failed or (Status.SCORED if trial.own else Status.ANSWERED),
        scores=trial.own,
        repeat=trial.repeat,
        attempt=trial.attempt,
        group=trial.group,
        requests=[request],
        started_at=STARTED + number + round(trial.begun * SECOND),
        duration=round(trial.latency * SECOND),
        reused_from="earlier" if trial.reused else None,
    )
    journal.write_trial(record, encode_json(body))
    if not failed and not trial.own:
        status = Status.UNPARSED if trial.value is None else Status.SCORED
        flags = [{"kind": kind, "evidence": evidence} for kind, evidence in trial.flags.items()]
        detail = {**trial.detail, **({"flags": flags} if flags else {})} or None
        journal.write_lines(ScoreRecord(f"{key}-s", key, "exact", trial.value, status, trial.span, detail))


def two_runs(place: Path, a: Sequence[Made], b: Sequence[Made], **changes: Any) -> tuple[str, str]:
    """Two runs side by side; `changes` are to the manifest of both. Returns their paths."""
    return str(write_run(place / "a", a, **changes)), str(write_run(place / "b", b, **changes))


def paired_outcomes(wins: int, losses: int, both: int, neither: int) -> tuple[list[float], list[float]]:
    """0/1 outcomes of A and B over samples of which B wins, loses, and ties so many."""
    a = [0.0] * wins + [1.0] * losses + [1.0] * both + [0.0] * neither
    b = [1.0] * wins + [0.0] * losses + [1.0] * both + [0.0] * neither
    return a, b


def shuffled(values: Sequence[Made], seed: int = 0) -> list[Made]:
    """The same trials in another order."""
    order = np.random.default_rng(seed).permutation(len(values))
    return [values[number] for number in order]
