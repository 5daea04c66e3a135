"""Run lookup of `resume`, `retry` and `judge`: the run that the user names, with the settings in its manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.runs import store
from benchwright.runs.manifest import Manifest, read_manifest
from benchwright.runs.manifest_facts import IMPORT_KIND, VALIDATION_KIND

if TYPE_CHECKING:
    from benchwright.config import Settings

SINGLE_USE_SETTINGS = ("fresh", "dry_run", "retry_failed", "provider_errors", "errors", "retry_scenario")
"""Names of settings that apply to one command only. They are not carried over when a run is resumed."""


HEADER_SETTINGS = ("headers", "headers_env")
"""Names of settings whose stored and given values are merged header by header."""


class ExistingRun(Record, frozen=True):
    """An existing run. `state`: the last event in the run's journal."""

    directory: Path
    manifest: Manifest
    state: str | None

    @property
    def subject(self) -> str:
        """Name of the benchmark, or path of the pack. Empty for an eval."""
        about = self.manifest.about
        if self.manifest.kind == "pack":
            return self.manifest.data[0].path
        name, variant = about.get("benchmark", ""), about.get("variant")
        return f"{name}:{variant}" if variant else str(name)


def find_existing_run(reference: str) -> ExistingRun:
    """Return the run that `reference` names. `reference`: an id, the start of an id, or a path.

    Raises:
        UserError: If there is no such run, several match, or it is a load level, an import or a validation.
    """
    directory = store.find_run(reference)
    manifest = read_manifest(directory)
    if manifest.kind == IMPORT_KIND:
        raise UserError(f"{manifest.id} was imported; only the program that made it can go on with it.")
    if manifest.kind == VALIDATION_KIND:
        raise UserError(f"{manifest.id} was kept by `benchwright validate`; validate again instead.")
    if "load" in manifest.about:
        raise UserError(
            f"{manifest.id} is a level of a measurement under load; measure it again with `benchwright load`."
        )
    return ExistingRun(directory, manifest, store.last_event_name(directory))


def resume_settings(run: ExistingRun, given: Mapping[str, Any]) -> Settings:
    """Return the settings of a run, overridden by the settings in `given`.

    The working directory is changed to the directory in which the run was started.

    Raises:
        UserError: If that directory is gone, or the settings cannot be read because they are from another
            version.
    """
    from pydantic import ValidationError

    from benchwright.config import BenchmarkSettings, EvalSettings, PackSettings, sections_by_name

    kinds: dict[str, type[Settings]] = {
        "eval": EvalSettings,
        "benchmark": BenchmarkSettings,
        "pack": PackSettings,
    }
    manifest = run.manifest
    if manifest.kind == "eval" and "dataset" not in manifest.settings:
        raise UserError(f"{manifest.id} is of a Task from Python: make the same call of `evaluate` again.")
    started_in = manifest.host.get("directory")
    if started_in is not None:
        try:
            os.chdir(started_in)
        except OSError as error:
            raise UserError(
                f"The run was started in {started_in}, which cannot be opened: {error.strerror}."
            ) from None
    kept = {name: value for name, value in manifest.settings.items() if name not in SINGLE_USE_SETTINGS}
    if manifest.kind == "benchmark":
        kept.setdefault("seal", False)  # runs of versions that had no seal
    if manifest.kind == "pack" and (mode := manifest.about.get("mode")):
        kept.setdefault("mode", mode)  # the default of earlier versions was another
    given = {**given, **_headers(kept, given)}
    kind = kinds.get(manifest.kind)
    if kind is None:
        raise UserError(f"{manifest.id} is not a run of a kind that can be resumed: {manifest.kind!r}.")
    try:
        return kind(
            **{**kept, **given, **({"run": run.directory} if "run" in sections_by_name(kind) else {})}
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(
            f"The settings of {manifest.id} cannot be read ({first['loc'][0]}: {first['msg']})."
        ) from None


def _headers(kept: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the kept headers and the given headers in one mapping.

    A given header replaces the kept one of the same name.
    """
    found: dict[str, Any] = {}
    now = {name.lower() for field in HEADER_SETTINGS for name in given.get(field, {})}
    for field in HEADER_SETTINGS:
        left = {name: value for name, value in kept.get(field, {}).items() if name.lower() not in now}
        found[field] = {**left, **given.get(field, {})}
    return found
