"""run.json: the description of a run, free of secrets.

It is written as a whole before the first trial and never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.errors import JournalError, UserError
from benchwright.files import write_atomically
from benchwright.records import DECODE_ERRORS, Amount, Record, Target, TaskSpec, TrialLimits, WallClockNs
from benchwright.runs.journal import encode_json
from benchwright.runs.store_format import STORE_FORMAT, check_format

MANIFEST_FILE = "run.json"


class JudgeInfo(Record, frozen=True):
    """How a judge is asked: a digest of its prompt, and the fields of its requests except the messages."""

    prompt: str
    settings: dict[str, Any] = {}

    def score_details(self, model: str | None) -> dict[str, Any]:
        """Return the judge's entry in the details of a score. `model` is the name that the server reports."""
        return {"judge": model, "judge_prompt": self.prompt, "judge_settings": self.settings}


class ScorerInfo(Record, frozen=True):
    """The name of a scorer, and the fingerprint of the rule by which it scores.

    `judging`: how the scorer's judge is asked. None if no model judges.
    """

    name: str
    fingerprint: str
    judging: JudgeInfo | None = None


class DataFile(Record, frozen=True):
    """A data file of a run: its path as given, the xxh3-128 digest of its bytes, and the samples in it that
    the run uses.

    `samples`: number of samples that the run uses. `offset`: row of the first of these samples. `columns`:
    names of the columns that hold the parts of a sample, its id and its cluster, if the user named them.
    `left_out`: number of invalid rows, which are not among the samples.
    """

    path: str
    xxh3: str
    samples: Amount
    offset: Amount = 0
    columns: dict[str, str] = {}
    left_out: Amount = 0


class Manifest(Record, frozen=True):
    """Everything known about a run before it starts.

    - `created_at`: wall-clock ns.
    - `kind`: the kind of command that made the run (eval, benchmark, pack, …).
    - `fingerprint`: a digest of all that identifies the run: task, data, targets, scorers, repeats, limits.
    - `typed_models`: mapping from slots to the models as the user typed them.
    - `settings`: the user's settings, without secrets.
    - `about`: facts specific to the kind of task, such as the protocol of a benchmark and the run's
      departures from the protocol.
    - `versions`, `host`, `client`: the software, the machine and the client process.
    - `concurrency`: the number of trials in flight. None if the number adapts itself (`auto`); events in the
      journal then record it.
    - `format`: the format in which the run is written; see `store_format`. 0 if run.json has no number.
    """

    id: str
    kind: str
    name: str
    fingerprint: str
    created_at: WallClockNs
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
    format: Amount = 0


class _AboutModel(Record, frozen=True):
    """A model of a pack's run, in `Manifest.about`. Fields that Benchwright does not read back are left out."""

    id: str = ""
    provider: str = ""
    model: str = ""
    label: str = ""
    enabled: bool = True
    group: str = ""


class _AboutLoad(Record, frozen=True):
    """The load level of a run, in `Manifest.about`."""

    level: dict[str, Any]


class KnownScale(Record, frozen=True):
    """The scale of a score of an imported run.

    It consists of the score's range, the lowest value that passes, and whether lower values are better.
    """

    low: float | None = None
    high: float | None = None
    passing: float | None = None
    lower_is_better: bool = False


class Origin(Record, frozen=True):
    """The origin of an imported run: the program that wrote the results, their path, and the data that they
    lack.

    `notes`: facts that a reader of the imported data should know, one sentence each.
    """

    format: str
    program: str
    path: str
    lacks: list[str] = []
    notes: list[str] = []
    scores: dict[str, KnownScale] = {}

    @property
    def lines(self) -> list[str]:
        """Sentences that describe the origin, for display."""
        lacks = f" It does not tell: {', '.join(self.lacks)}." if self.lacks else ""
        return [f"Imported from {self.program}, {Path(self.path).name}.{lacks}", *self.notes]


class _About(Record, frozen=True):
    """The fields of `Manifest.about` that are read back, for benchmarks, packs, load levels and imports."""

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
    """Write run.json atomically, by rename, with the number of the present format.

    Raises:
        JournalError: If the directory cannot be written.
    """
    numbered = msgspec.structs.replace(manifest, format=STORE_FORMAT)
    content = msgspec.json.format(encode_json(numbered), indent=2) + b"\n"
    write_atomically(directory / MANIFEST_FILE, content, durable=True, error=JournalError)


def read_manifest(directory: Path) -> Manifest:
    """Read run.json.

    Raises:
        UserError: If the file does not exist, cannot be read, or was written by a newer version.
    """
    path = directory / MANIFEST_FILE
    try:
        content = path.read_bytes()
        check_format(path, content)
        manifest = msgspec.json.decode(content, type=Manifest)
        msgspec.convert(manifest.about, _About)
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{directory} holds no run (no {MANIFEST_FILE}).") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except DECODE_ERRORS as error:
        raise UserError(f"{path} cannot be read: {error}.") from None
    if manifest.kind == "benchmark" and not manifest.scorers:
        raise UserError(f"{path} cannot be read: a benchmark's run without a scorer.")
    return manifest


def check_run_format(directory: Path) -> None:
    """Check that this version knows the format of a run. A run whose manifest cannot be read passes.

    Raises:
        UserError: If a newer version wrote the run.
    """
    path = directory / MANIFEST_FILE
    try:
        content = path.read_bytes()
    except OSError:
        return
    check_format(path, content)


def origin_of(manifest: Manifest) -> Origin | None:
    """Return the origin of an imported run. None for a run that Benchwright made."""
    origin = manifest.about.get("origin")
    return None if origin is None else msgspec.convert(origin, Origin)


def display_names(manifest: Manifest) -> dict[str, str]:
    """Return the display name of each target of a run, as a mapping from its slot.

    In a pack's run, the names are the labels that the pack gives its models. If two labels are equal, they are
    the slots. For other runs see `display_names_of_models`.
    """
    slots = [target.slot for target in manifest.targets]
    if manifest.kind != "pack":
        return display_names_of_models(slots, manifest.typed_models)
    models = manifest.about.get("models", {})
    labels = [models.get(target.slot, {}).get("label", target.model) for target in manifest.targets]
    return dict(zip(slots, labels if len(set(labels)) == len(labels) else slots, strict=True))


def display_names_of_models(slots: Sequence[str], typed_models: Mapping[str, str]) -> dict[str, str]:
    """Return the display name of the model in each slot.

    If several models are compared, they are called by their names. A single model, or a model and its baseline,
    are called by their slots (`primary`, `baseline`).
    """
    compared = len(slots) > 1 and "baseline" not in slots
    return {slot: typed_models.get(slot, slot) if compared else slot for slot in slots}


def planned_trials(manifest: Manifest) -> int:
    """Return the number of trials of a run according to its data.

    Once the run has begun, `Sessions.planned` is more precise, because it is read from the journal.
    """
    return sum(data.samples for data in manifest.data) * manifest.repeats * len(manifest.targets)
