"""Description and validation of a pack, from its manifest and its code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from benchwright.app.pack_setup import pack_process
from benchwright.config import PackProcessSettings
from benchwright.errors import ExecutionError, UserError
from benchwright.packs.inspection import failed_inspection, inspect_pack
from benchwright.packs.install import InstalledPack, find_pack
from benchwright.packs.manifest import MANIFEST_NAME
from benchwright.packs.module_manifest import effective_manifest
from benchwright.packs.types import ScenarioMeta
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import Record

DETAIL_CARD_TITLES = ("What this tests", "Success case", "Failure case")
"""Titles that the detail cards of scenarios have in the official packs. A card with another title is not an error."""


class PackFacts(Record, frozen=True):
    """An installed pack, with its scenarios as the pack's code lists them.

    `scenarios` is empty if the pack cannot be loaded. `runtime`: the runtime of the pack's code, None if it is not
    known.
    """

    pack: InstalledPack
    scenarios: Sequence[ScenarioMeta] = ()
    runtime: str | None = None


class PackValidation(Record, frozen=True):
    """Result of validating a pack.

    `problems`: reasons why the pack cannot run. `warnings`: remarks on a pack that can run. `scenarios`: the number
    of its scenarios.
    """

    directory: Path
    problems: list[str]
    warnings: list[str]
    scenarios: int = 0


async def pack_facts(reference: str, storage: Path, process: PackProcessSettings) -> PackFacts:
    """Return the facts about a pack, found by id or path. Its code is loaded to list its scenarios.

    Raises:
        UserError: If there is no such pack, or Node is missing for it.
    """
    pack = find_pack(reference, storage, process.compatible_version or COMPATIBLE_VERSION)
    manifest = pack.inspection.manifest
    if pack.inspection.status != "ready" or manifest is None:
        return PackFacts(pack)
    try:
        async with pack_process(pack.directory, manifest, process) as running:
            return PackFacts(pack, running.scenarios, running.runtime)
    except ExecutionError as error:
        failed = failed_inspection(pack.inspection, str(error))
        return PackFacts(InstalledPack(pack.id, pack.directory, failed, pack.local, pack.record))


async def validate_pack(path: Path, process: PackProcessSettings) -> PackValidation:
    """Return the result of checking a pack's directory.

    The checks are: the manifest is valid, the code loads, the scenarios have the right form, and the scorer accepts
    an empty list of results.

    Raises:
        UserError: If there is no such directory, or Node is missing for the pack.
    """
    directory = (path.parent if path.name == MANIFEST_NAME else path).resolve()
    if not directory.is_dir():
        raise UserError(f"There is no directory {path}.")
    inspection = inspect_pack(directory, process.compatible_version or COMPATIBLE_VERSION)
    manifest = inspection.manifest
    if inspection.status != "ready" or manifest is None:
        return PackValidation(directory, [f"{inspection.status}: {inspection.error}"], [])
    problems: list[str] = []
    warnings = list(manifest.warnings)
    scenarios: list[ScenarioMeta] = []
    try:
        async with pack_process(directory, manifest, process) as running:
            scenarios = running.scenarios
            problems += _scenario_problems(scenarios)
            warnings += _scenario_oddities(scenarios)
            warnings += effective_manifest(manifest, running.manifest, directory)[1]
            await running.score([])
    except ExecutionError as error:
        problems.append(str(error))
    return PackValidation(directory, problems, warnings, len(scenarios))


def _scenario_problems(scenarios: Sequence[ScenarioMeta]) -> Iterator[str]:
    if not scenarios:
        yield "listScenarios() lists none"
    for scenario in scenarios:
        raw = scenario.raw
        if not isinstance(raw.get("title"), str) or not raw["title"].strip():
            yield f"scenario {scenario.id}: it has no title"
        for name in ("category", "description", "promptText"):
            if raw.get(name) is not None and not isinstance(raw[name], str):
                yield f"scenario {scenario.id}: its {name} is not text"
        if len(scenario.tags) != _length(raw.get("tags")):
            yield f"scenario {scenario.id}: its tags are not a list of strings"
        if len(scenario.detail_cards) != _length(raw.get("detailCards")):
            yield f"scenario {scenario.id}: its detailCards are not a list of {{title, content}}"


def _scenario_oddities(scenarios: Sequence[ScenarioMeta]) -> Iterator[str]:
    for scenario in scenarios:
        if scenario.category is None:
            yield f"scenario {scenario.id} has no category"
        if not scenario.detail_cards:
            yield f"scenario {scenario.id} has no detail cards ({', '.join(DETAIL_CARD_TITLES)})"


def _length(value: object) -> int:
    """Return the length of a list. Return 0 for None, and -1 for any other value."""
    if value is None:
        return 0
    return len(value) if isinstance(value, list) else -1
