"""Predictions: the patches of a model, in the files that the harnesses of SWE-bench and SWE-bench Pro exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Graded
from benchwright.errors import UserError
from benchwright.files import whole_file
from benchwright.interop import mini_swe_agent, swe_agent
from benchwright.interop.agent_folders import LIST
from benchwright.interop.foreign import ForeignTrial, UnreadableResults
from benchwright.records import UNREADABLE, Record
from benchwright.typed_paths import typed_path

_SHAPES = "JSON lines or a list of {instance_id, model_name_or_path, model_patch}, or an object of them by instance id"


class Prediction(Record, frozen=True):
    """A patch for an instance; the fields are those of the official files, in their order."""

    instance_id: str
    model_name_or_path: str
    model_patch: str


def read_predictions(path: Path) -> dict[str, str]:
    """The patches of a file by instance id; None for a patch is an empty one.

    The file is JSON lines, or JSON: a list, or an object of entries (or of plain patches) by instance id. A patch
    is called `model_patch`, or `patch` as in the files of SWE-bench Pro.

    Raises:
        UserError: the file cannot be read, is none of these, or has two patches for an instance.
    """
    try:
        raw = typed_path(path).read_bytes()
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
    """Patches by instance id; where an agent's folder has them, its `trials` too, and the `program` that it was."""

    patches: Mapping[str, str]
    trials: Mapping[str, ForeignTrial] = {}
    program: str = ""

    @property
    def departure(self) -> str:
        """In what a run that grades them differs from one that asks a model."""
        if not self.program:
            return "the patches come from a file; no model was asked"
        return f"the patches and conversations are those of {self.program}, as it wrote them down; no model was asked"


def predictions_at(path: Path) -> Predictions:
    """The predictions of a file, or of a folder that SWE-agent or mini-SWE-agent wrote.

    In a folder, `preds.json` says what was submitted; instances without a trajectory, or with a damaged one, are known
    from there only.

    Raises:
        UserError: the file cannot be read or is of no known form, or the folder is not such a folder.
    """
    place = typed_path(path)
    if not place.is_dir():
        return Predictions(read_predictions(path))
    reader = next((one for one in (mini_swe_agent, swe_agent) if one.recognises(place)), None)
    listed = read_predictions(place / LIST) if (place / LIST).is_file() else {}
    if reader is None and not listed:
        raise UserError(f"{path} holds neither {LIST} nor trajectories of SWE-agent or mini-SWE-agent.")
    if reader is None:
        return Predictions(listed)
    (run,) = reader.read(place)
    if isinstance(run, UnreadableResults):
        raise run
    trials = {trial.sample: trial for trial in run.trials if not trial.unread}
    patches = {name: trial.answer for name, trial in trials.items()} | listed
    return Predictions(patches, trials, run.program)


def predictions_of(graded: Iterable[Graded], model: str) -> Iterator[Prediction]:
    """The patches in the details of scores, under `model_patch`; of several repeats of a sample the first."""
    seen: set[str] = set()
    for one in graded:
        patch = one.detail.get("model_patch")
        if isinstance(patch, str) and one.sample not in seen:
            seen.add(one.sample)
            yield Prediction(one.sample, model, patch)


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> int:
    """Writes JSON lines, one prediction each, as the official harness reads them; returns how many.

    Raises:
        UserError: the file cannot be written.
    """
    count = 0
    with whole_file(path) as file:
        for prediction in predictions:
            file.write(msgspec.json.encode(prediction) + b"\n")
            count += 1
    return count


def _entries(path: Path, raw: bytes) -> Iterable[Any]:
    try:
        value = msgspec.json.decode(raw)
    except UNREADABLE:
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
            except UNREADABLE as error:
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
