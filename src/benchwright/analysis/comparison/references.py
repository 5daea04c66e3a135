"""Finds the sides of a comparison to which the references typed by the user refer: runs, or documented result
files.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.comparison.result_files import ResultFile, read_result_file
from benchwright.analysis.comparison.sides import Side
from benchwright.analysis.comparison.sides_from_files import (
    BenchmarkFile,
    EvalFile,
    benchmark_side,
    eval_sides,
)
from benchwright.analysis.comparison.sides_from_table import RunSides
from benchwright.errors import UserError
from benchwright.home import runs_directory
from benchwright.interop.result_formats import find_or_import_run, format_of
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.manifest import MANIFEST_FILE
from benchwright.user_paths import expand_user_path


class ResolvedReference(Record, frozen=True):
    """A resolved reference: a run or a file. `slot`: the target to which it is restricted; None without a
    restriction.

    `result_file`: the content of a benchmark's result file, from which a column of the documented table is
    made. None if the reference is no such file.
    """

    reference: str
    run: RunSides | None = None
    file: BenchmarkFile | EvalFile | None = None
    slot: str | None = None
    result_file: ResultFile | None = None

    def sides(self, *, all_slots: bool) -> Sequence[Side]:
        """Return the side to which the reference refers.

        If `all_slots` is True and the reference names no slot, return one side for each target, the baseline
        first.
        """
        if isinstance(self.file, BenchmarkFile):
            return [benchmark_side(self.file, self.reference)]
        if isinstance(self.file, EvalFile):
            return self._of_eval(self.file, all_slots)
        assert self.run is not None
        return self.run.sides() if all_slots and self.slot is None else [self.run.side(self.slot)]

    def _of_eval(self, file: EvalFile, all_slots: bool) -> Sequence[Side]:
        found = eval_sides(file, self.reference)
        if self.slot is not None:
            if self.slot not in found:
                raise UserError(f"{self.reference}: the file has the models {', '.join(found)}.")
            return [found[self.slot]]
        if all_slots:
            return [found[tag] for tag in sorted(found, key=lambda tag: tag != "baseline")]
        return list(found.values())[:1]


def resolve_reference(reference: str) -> ResolvedReference:
    """Resolve a reference: RUN (an id, a unique part of an id, or a directory) or FILE. `@SLOT` restricts it
    to one target.

    If a file names its run and the run is on this machine, the run is used instead of the file.

    Raises:
        UserError: If there is no such run or file, or the file is of no kind that can be compared.
    """
    if Path(reference).exists() or "@" not in reference:
        return _found(reference, reference, None)
    name, _, slot = reference.rpartition("@")
    return _found(name, reference, slot)


def _found(name: str, reference: str, slot: str | None) -> ResolvedReference:
    path = expand_user_path(name)
    ours = path.is_file() and format_of(path) is None
    if ours or (path.suffix == ".json" and not path.exists()):
        return _from_file(path, reference, slot)
    return ResolvedReference(reference, run=RunSides(find_or_import_run(name), reference), slot=slot)


class _Shape(Record, frozen=True):
    """The keys by which the kinds of result files are distinguished."""

    benchmark: Any = None
    config: Any = None
    rows: Any = None
    runs: Any = None


def _from_file(path: Path, reference: str, slot: str | None) -> ResolvedReference:
    try:
        shape = msgspec.json.decode(path.read_bytes(), type=_Shape)
    except (OSError, *DECODE_ERRORS):
        shape = _Shape()
    runs = shape.runs if shape.rows is None else shape.rows
    if shape.benchmark is None and isinstance(shape.config, dict) and isinstance(runs, list):
        return _from_eval(path, reference, slot)
    column = read_result_file(path)
    try:
        file = msgspec.json.decode(path.read_bytes(), type=BenchmarkFile)
    except DECODE_ERRORS as error:
        raise UserError(f"{path} is not a result file of `run`: {error}.") from None
    if isinstance(file.run, str) and (directory := _here(file.run)) is not None:
        return ResolvedReference(reference, run=RunSides(directory, reference), slot=slot, result_file=column)
    return ResolvedReference(reference, file=file, slot=slot, result_file=column)


def _from_eval(path: Path, reference: str, slot: str | None) -> ResolvedReference:
    try:
        file = msgspec.json.decode(path.read_bytes(), type=EvalFile)
    except DECODE_ERRORS as error:
        raise UserError(f"{path} holds no results of `eval`: {error}.") from None
    if file.run is not None and (directory := _here(file.run)) is not None:
        return ResolvedReference(reference, run=RunSides(directory, reference), slot=slot)
    return ResolvedReference(reference, file=file, slot=slot)


def _here(run: str) -> Path | None:
    """Return the directory of the run that a result file names. None if the run is not on this machine."""
    written = Path(run)
    places = [runs_directory() / written.name]
    if written.is_absolute():
        places.insert(0, written)
    return next((place for place in places if (place / MANIFEST_FILE).exists()), None)
