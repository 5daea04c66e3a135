"""Finds the load measurements to which the references typed by the user refer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchwright.analysis.load.comparison.report_files import read_reports
from benchwright.analysis.load.level_results import level_plan_of
from benchwright.analysis.load.load_measurement import read_load_measurement
from benchwright.analysis.load.plot_data import DetailedLoad
from benchwright.analysis.load.records import LoadReport
from benchwright.errors import UserError
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.run_selection import runs_newest_first
from benchwright.runs.store import find_run
from benchwright.runs.table import read_table
from benchwright.runs.tags_and_notes import models_of
from benchwright.user_paths import expand_user_path

LOAD_TAG_PREFIX = "load-"
"""Prefix of the tags by which load measurements are identified."""

MIN_TAG_LENGTH = len(LOAD_TAG_PREFIX) + 4


def find_loads(reference: str) -> list[DetailedLoad]:
    """Return the measurements that a reference names, one for each model. Empty if it names something else.

    A reference is a tag, a unique prefix of a tag (`load-20261123T18`), or a file of `load -o`. A file has no
    details.

    Raises:
        UserError: If several tags start with the reference, or it looks like a tag and matches none.
        JournalError: If a run cannot be read.
    """
    path = expand_user_path(reference)
    if path.is_file():
        return [DetailedLoad(report) for report in read_reports(path)]
    return _tagged(reference) if reference.startswith(LOAD_TAG_PREFIX) and not path.exists() else []


def find_all_loads(references: Sequence[str]) -> list[DetailedLoad]:
    """Return the measurements that all references name. Empty if no reference names a measurement.

    Raises:
        UserError: If only some references name measurements, or as in `find_loads`.
        JournalError: If a run cannot be read.
    """
    found = [find_loads(reference) for reference in references]
    other = [reference for reference, loads in zip(references, found, strict=True) if not loads]
    if other and len(other) < len(references):
        raise UserError(
            f"{other[0]} is not a measurement under load, and others are: give either measurements or runs."
        )
    return [load for loads in found for load in loads]


def find_load(reference: str) -> LoadReport:
    """Return the only measurement that a reference names; see `find_loads`.

    Raises:
        UserError: If the reference names no measurement, or measurements of several models.
        JournalError: If a run cannot be read.
    """
    found = find_loads(reference)
    if not found:
        raise UserError(
            f"{reference} is not a measurement of `load`: give its tag (load-…), or the file of its -o."
        )
    if len(found) > 1:
        models = ", ".join(load.report.model for load in found)
        raise UserError(
            f"{reference} has the measurements of several models ({models}): give one of one model."
        )
    return found[0].report


def read_single_level(reference: str) -> LoadReport | None:
    """Return a run as a measurement, if the run is a single load level without scores.

    Return None if it is another kind of run.

    Raises:
        JournalError: If the run cannot be read.
    """
    try:
        directory = find_run(reference)
    except UserError:
        return None
    manifest = read_manifest(directory)
    if level_plan_of(manifest) is None or manifest.scorers:
        return None
    found = read_load_measurement([read_table(directory, effort=True)])
    return None if found is None else found.report


def read_loads(levels: Iterable[tuple[Path, Manifest]]) -> list[DetailedLoad]:
    """Return the measurements to which these runs belong as levels: one for each model and address.

    The newest run is first.

    Raises:
        JournalError: If a run cannot be read.
    """
    groups: dict[Sequence[str], list[Path]] = {}
    for path, manifest in levels:
        groups.setdefault(_model(manifest), []).append(path)
    found = [
        read_load_measurement(read_table(path, effort=True) for path in paths) for paths in groups.values()
    ]
    return [load for load in reversed(found) if load is not None]


def _tagged(reference: str) -> list[DetailedLoad]:
    levels = _levels(reference)
    tag = _tag_of(reference, levels)
    return read_loads((path, manifest) for name, path, manifest in levels if name == tag)


def find_tag(reference: str) -> str:
    """Return the tag of the only measurement whose tag starts with `reference`.

    Raises:
        UserError: If several tags or none start with it.
    """
    return _tag_of(reference, _levels(reference))


def _tag_of(reference: str, levels: Iterable[tuple[str, Path, Manifest]]) -> str:
    tags = {tag for tag, _, _ in levels}
    if len(tags) > 1 and reference not in tags:
        raise UserError(f"{reference} could be {', '.join(sorted(tags))}: give more of it.")
    if not tags or len(reference) < MIN_TAG_LENGTH:
        raise UserError(
            f"No measurement is called {reference}. `benchwright runs --kind load` lists their runs."
        )
    return reference if reference in tags else next(iter(tags))


def _levels(reference: str) -> list[tuple[str, Path, Manifest]]:
    """Return (tag, directory, manifest) of all load levels whose tag starts with `reference`. The newest is first."""
    return [
        (plan.id, path, manifest)
        for path, manifest in runs_newest_first()
        if (plan := level_plan_of(manifest)) is not None and plan.id.startswith(reference)
    ]


def _model(manifest: Manifest) -> Sequence[str]:
    return (*models_of(manifest), *(target.base_url for target in manifest.targets))
