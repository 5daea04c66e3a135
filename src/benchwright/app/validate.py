"""Validating benchmarks: finds their data, plays their checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchwright.catalog.benchmark import About, Options
from benchwright.catalog.registry import about, abouts, make
from benchwright.catalog.selection import Selection
from benchwright.catalog.validation import ValidationResult, validate
from benchwright.data.datasets import find_dataset
from benchwright.data.errors import DatasetNotFound
from benchwright.records import Record


class Validation(Record, frozen=True):
    """What was validated, and what was left out: {benchmark: why}."""

    validated: list[ValidationResult]
    left_out: dict[str, str] = {}


async def validate_benchmarks(
    names: Sequence[str], data_dir: Path, options: Mapping[str, str], selection: Selection
) -> Validation:
    """Validates these benchmarks, or without names all whose data is on this machine.

    Raises:
        UserError: a benchmark is unknown, one that was named has no data here, or the selection names what no sample
            has.
    """
    entries: list[About] = [about(name) for name in names] or list(abouts())
    validated: list[ValidationResult] = []
    left_out: dict[str, str] = {}
    for entry in entries:
        benchmark = make(entry, Options(options, data_dir=data_dir))
        try:
            offline = True if not names else None
            source = find_dataset(entry.dataset, data_dir, path=options.get("path"), offline=offline)
            validated.append(await validate(benchmark, source, selection))
        except DatasetNotFound as error:
            if names:
                raise
            left_out[entry.full_name] = str(error)
    return Validation(validated, left_out)
