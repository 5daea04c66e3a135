"""run.json: what a run is. Written whole before its first trial, never changed, free of secrets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import JournalError, UserError
from benchwright.files import write_whole
from benchwright.records import UNREADABLE, Amount, Moment, Record, Target, TaskSpec, TrialLimits
from benchwright.runs.journal import encode_json

MANIFEST = "run.json"


class JudgeInfo(Record, frozen=True):
    """How a judge is asked: a digest of its prompt, and the fields of a request's body besides the messages."""

    prompt: str
    settings: dict[str, Any] = {}

    def details(self, model: str | None) -> dict[str, Any]:
        """What the score of a trial says of the judge that gave it; `model` as its server calls it."""
        return {"judge": model, "judge_prompt": self.prompt, "judge_settings": self.settings}


class ScorerInfo(Record, frozen=True):
    """A scorer's name and the fingerprint of its rule; `judging` where a model judges."""

    name: str
    fingerprint: str
    judging: JudgeInfo | None = None


class DataFile(Record, frozen=True):
    """A data file: its path as given, the xxh3-128 of its bytes, and what the run takes of it.

    That is so many `samples` from row `offset` on; `columns` names the column of each part of a sample where
    the user did, and those that are taken for its id and its group. `left_out` bad rows are not among the samples.
    """

    path: str
    xxh3: str
    samples: Amount
    offset: Amount = 0
    columns: dict[str, str] = {}
    left_out: Amount = 0


class Manifest(Record, frozen=True):
    """What is known of a run before it starts. `created_at` is wall-clock ns; `kind` the front door.

    `fingerprint` covers whatever makes two runs the same run: task, data, targets, scorers, repeats, limits.
    `typed_models` are the models as the user typed them, by slot; `settings` are the user's, without
    secrets; `about` is what the kind of task says of itself (a benchmark its protocol, and how the run
    departs from it); `versions`, `host` and `client` say where and with what. `concurrency` is None where it
    found itself (`auto`): the journal's events say what it was.
    """

    id: str
    kind: str
    name: str
    fingerprint: str
    created_at: Moment
    task: TaskSpec
    targets: list[Target]
    helpers: list[Target] = []
    scorers: list[ScorerInfo] = []
    repeats: Amount = 1
    limits: TrialLimits = TrialLimits()
    concurrency: Amount | None = 1
    stream: bool = True
    pass_threshold: float = 1.0
    data: list[DataFile] = []
    typed_models: dict[str, str] = {}
    settings: dict[str, Any] = {}
    about: dict[str, Any] = {}
    versions: dict[str, str] = {}
    host: dict[str, Any] = {}
    client: dict[str, Any] = {}


class _AboutModel(Record, frozen=True):
    """A model of a pack's run."""

    id: str = ""
    provider: str = ""
    model: str = ""
    label: str = ""
    enabled: bool = True
    group: str = ""


class _AboutLoad(Record, frozen=True):
    """A level of load."""

    level: dict[str, Any]


class KnownScale(Record, frozen=True):
    """What is known of a score of an imported run."""

    low: float | None = None
    high: float | None = None
    passing: float | None = None
    lower_is_better: bool = False


class Origin(Record, frozen=True):
    """Where an imported run is from: which program wrote it, in which file, and what that lacks.

    `notes` are what a reader should know, a sentence each.
    """

    format: str
    program: str
    path: str
    lacks: list[str] = []
    notes: list[str] = []
    scores: dict[str, KnownScale] = {}

    @property
    def lines(self) -> list[str]:
        """All of it as sentences."""
        lacks = f" It does not tell: {', '.join(self.lacks)}." if self.lacks else ""
        return [f"Imported from {self.program}, {Path(self.path).name}.{lacks}", *self.notes]


class _About(Record, frozen=True):
    """What is read of `Manifest.about`: a benchmark's part, a pack's, that of a level of load, and of an import."""

    origin: Origin | None = None

    benchmark: str | None = None
    variant: str | None = None
    title: str | None = None
    metric: str | None = None
    protocol: str | None = None
    departures: list[str] | None = None
    seal: str | None = None
    breakdowns: list[str] = []
    data: dict[str, Any] | None = None
    name: str = ""
    version: str = ""
    mode: str = ""
    generation: dict[str, Any] = {}
    models: dict[str, _AboutModel] = {}
    scenarios: dict[str, str] = {}
    categories: dict[str, str | None] = {}
    cards: dict[str, list[Any]] = {}
    load: _AboutLoad = _AboutLoad({})


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Writes run.json whole, by rename.

    Raises:
        JournalError: the directory cannot be written.
    """
    content = msgspec.json.format(encode_json(manifest), indent=2) + b"\n"
    write_whole(directory / MANIFEST, content, durable=True, error=JournalError)


def read_manifest(directory: Path) -> Manifest:
    """Reads run.json.

    Raises:
        UserError: there is none, or it cannot be read.
    """
    path = directory / MANIFEST
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
        msgspec.convert(manifest.about, _About)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{directory} holds no run (no {MANIFEST}).") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except UNREADABLE as error:
        raise UserError(f"{path} cannot be read: {error}.") from None
    if manifest.kind == "benchmark" and not manifest.scorers:
        raise UserError(f"{path} cannot be read: a benchmark's run without a scorer.")
    return manifest


def origin_of(manifest: Manifest) -> Origin | None:
    """Where a run is from, None where it is our own."""
    origin = manifest.about.get("origin")
    return None if origin is None else msgspec.convert(origin, Origin)


def target_names(manifest: Manifest) -> dict[str, str]:
    """What each target of a run is called, by slot: in a pack by its model, as the pack's matrix has it.

    See `names_of_models` for other runs. Models that are called alike have slots.
    """
    slots = [target.slot for target in manifest.targets]
    if manifest.kind != "pack":
        return names_of_models(slots, manifest.typed_models)
    models = manifest.about.get("models", {})
    labels = [models.get(target.slot, {}).get("label", target.model) for target in manifest.targets]
    return dict(zip(slots, labels if len(set(labels)) == len(labels) else slots, strict=True))


def names_of_models(slots: Sequence[str], typed_models: Mapping[str, str]) -> dict[str, str]:
    """What the models of these slots are called: by their names where there are several to compare.

    Of one model, and of a model and its baseline, the slots say what they are for (`primary`, `baseline`).
    """
    compared = len(slots) > 1 and "baseline" not in slots
    return {slot: typed_models.get(slot, slot) if compared else slot for slot in slots}


def planned_trials(manifest: Manifest) -> int:
    """How many trials a run has by its data; its journal tells it better once it was begun (`Sessions.planned`)."""
    return sum(data.samples for data in manifest.data) * manifest.repeats * len(manifest.targets)
