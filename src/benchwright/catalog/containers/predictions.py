"""Predictions: a model's or agent's patches, in the file formats of SWE-bench and SWE-bench Pro."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.benchmark import GradedTrial
from benchwright.errors import UserError
from benchwright.files import atomic_file
from benchwright.interop import mini_swe_agent, swe_agent
from benchwright.interop.foreign_results import ForeignTrial, UnreadableResults
from benchwright.interop.trajectory_folders import PATCHES_FILE
from benchwright.records import DECODE_ERRORS, Record
from benchwright.user_paths import expand_user_path

_SHAPES = "JSON lines or a list of {instance_id, model_name_or_path, model_patch}, or an object of them by instance id"


class Prediction(Record, frozen=True):
    """A patch for an instance. The fields and their order are those of the official files."""

    instance_id: str
    model_name_or_path: str
    model_patch: str


def read_predictions(path: Path) -> dict[str, str]:
    """Read patches from a file, keyed by instance id. A null patch becomes an empty patch.

    The file is JSON lines, or JSON: a list of entries, or an object of entries (or of plain patches) keyed by
    instance id. The key of a patch is `model_patch`, or `patch` as in the files of SWE-bench Pro.

    Raises:
        UserError: If the file cannot be read, has another form, or has two patches for an instance.
    """
    try:
        raw = expand_user_path(path).read_bytes()
    except OSError as error:
        raise UserError(f"The predictions {path} cannot be read: {error.strerror}.") from None
    patches: dict[str, str] = {}
    for number, entry in enumerate(_entries(path, raw)):
        identity, patch = _of_entry(path, number, entry)
        if identity in patches:
            raise UserError(f"The predictions {path} have two patches for {identity}.")
        patches[identity] = patch
    return patches


class Predictions(Record, frozen=True):
    """Patches keyed by instance id.

    `foreign_trials` and `foreign_program` are set if the patches come from an agent's folder: the agent's
    trials, and its name.
    """

    patches: Mapping[str, str]
    foreign_trials: Mapping[str, ForeignTrial] = {}
    foreign_program: str = ""

    @property
    def departure(self) -> str:
        """The departure of a run that grades predictions instead of asking a model."""
        if not self.foreign_program:
            return "the patches come from a file; no model was asked"
        return (
            f"the patches and conversations are those of {self.foreign_program}, as it wrote them "
            "down; no model was asked"
        )


def load_predictions(path: Path) -> Predictions:
    """Read the predictions in a file, or in a folder that SWE-agent or mini-SWE-agent wrote.

    In a folder, `preds.json` decides which patch was submitted. For an instance without a readable
    trajectory, only its patch is known.

    Raises:
        UserError: If the file cannot be read or has no known form, or the folder was not written by these
            programs.
    """
    place = expand_user_path(path)
    if not place.is_dir():
        return Predictions(read_predictions(path))
    reader = next((one for one in (mini_swe_agent, swe_agent) if one.recognises(place)), None)
    listed = read_predictions(place / PATCHES_FILE) if (place / PATCHES_FILE).is_file() else {}
    if reader is None and not listed:
        raise UserError(
            f"{path} holds neither {PATCHES_FILE} nor trajectories of SWE-agent or mini-SWE-agent."
        )
    if reader is None:
        return Predictions(listed)
    (run,) = reader.read(place)
    if isinstance(run, UnreadableResults):
        raise run
    trials = {trial.sample: trial for trial in run.trials if not trial.is_damaged}
    patches = {name: trial.answer for name, trial in trials.items()} | listed
    return Predictions(patches, trials, run.program)


def collect_predictions(graded: Iterable[GradedTrial], model: str) -> Iterator[Prediction]:
    """Yield the patches of the first repeat of each sample, from the score detail `model_patch`."""
    seen: set[str] = set()
    for one in graded:
        patch = one.detail.get("model_patch")
        if isinstance(patch, str) and one.sample not in seen:
            seen.add(one.sample)
            yield Prediction(one.sample, model, patch)


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> int:
    """Write predictions as JSON lines, in the official harness's format. Return their number.

    Raises:
        UserError: If the file cannot be written.
    """
    count = 0
    with atomic_file(path) as file:
        for prediction in predictions:
            file.write(msgspec.json.encode(prediction) + b"\n")
            count += 1
    return count


def _entries(path: Path, raw: bytes) -> Iterable[Any]:
    try:
        value = msgspec.json.decode(raw)
    except DECODE_ERRORS:
        return _lines(path, raw)
    if isinstance(value, list):
        return value
    if isinstance(value, dict) and "instance_id" in value:
        return [value]
    if isinstance(value, dict):
        return [_named(identity, entry) for identity, entry in value.items()]
    raise UserError(f"The predictions {path} are not {_SHAPES}.")


def _lines(path: Path, raw: bytes) -> Iterable[Any]:
    for number, line in enumerate(raw.splitlines(), 1):
        if line.strip():
            try:
                yield msgspec.json.decode(line)
            except DECODE_ERRORS as error:
                raise UserError(
                    f"The predictions {path}: line {number} is not valid JSON ({error})."
                ) from None


def _named(identity: str, entry: Any) -> Any:
    return {"instance_id": identity, **(entry if isinstance(entry, dict) else {"model_patch": entry})}


def _of_entry(path: Path, number: int, entry: Any) -> tuple[str, str]:
    if isinstance(entry, Mapping):
        patch = entry.get("model_patch", entry.get("patch", ...))
        identity = entry.get("instance_id")
        if isinstance(identity, str) and (patch is None or isinstance(patch, str)):
            return identity, patch or ""
    raise UserError(
        f"The predictions {path}: entry {number} has no instance_id and model_patch; expected {_SHAPES}."
    )
