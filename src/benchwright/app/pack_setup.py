"""Sets up a pack run from what a user typed: the pack, its scenarios, models and settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchwright.app.models import find_models, slot_of_model
from benchwright.app.pack_store import read_pack_configuration
from benchwright.config import (
    EndpointSettings,
    PackProcessSettings,
    PackSettings,
    SamplingSettings,
    ThinkingSettings,
)
from benchwright.endpoint.access import Access
from benchwright.endpoint.default_server import DefaultServer, default_server
from benchwright.endpoint.providers import find_target
from benchwright.endpoint.tls import NO_TLS_FILES
from benchwright.errors import UserError
from benchwright.home import pack_libraries_directory, packs_cache_directory, packs_directory, packs_file
from benchwright.packs.bridge import BridgeLimits, LogCallback, PackProcess
from benchwright.packs.configuration import PackConfiguration, build_configuration, choose_models
from benchwright.packs.context import PackDirectories, configured_timeout, resolve_generation
from benchwright.packs.install import InstalledPack, find_pack
from benchwright.packs.install.digest import file_digests, tree_digest
from benchwright.packs.manifest import PackManifest
from benchwright.packs.module_manifest import effective_manifest
from benchwright.packs.solver import CellSettings
from benchwright.packs.task import PackRunSetup
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.packs.web_pack import NOT_RUNNABLE_MESSAGE
from benchwright.records import Target
from benchwright.suggestions import did_you_mean
from benchwright.text import Say, make_safe

DEFAULT_SCENARIO_SECONDS = 1800.0
"""Default maximum seconds for one attempt at a scenario, if neither the user nor the pack sets a maximum."""

GENERATION_SETTINGS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "repetition_penalty",
    "presence_penalty",
    "max_tokens",
    "seed",
)
"""Names of the settings that become fields of the generation request. A setting that is None is not sent."""


class LoadedPack(NamedTuple):
    """A loaded pack with its models. `access` (keys, by slot) is never written to any file."""

    setup: PackRunSetup
    process: PackProcess
    targets: list[Target]
    access: dict[str, Access]


async def set_up_pack(
    reference: str, settings: PackSettings, log: LogCallback, say: Say, stack: AsyncExitStack
) -> LoadedPack:
    """Find the pack and the models, and start the pack's process, which lists the scenarios. Return the loaded pack.

    The process ends when `stack` is closed.

    Raises:
        UserError: If the pack, models or settings are invalid. The message says what to do.
        ExecutionError: If the pack does not load.
    """
    version = settings.process.compatible_version or COMPATIBLE_VERSION
    pack = find_pack(reference, packs_directory(), version)
    declared = require_runnable_manifest(pack)
    configuration, models, targets, access = prepare_chosen_models(
        settings.endpoint, settings.sampling, say, direct=settings.process.direct
    )
    process = await stack.enter_async_context(pack_process(pack.directory, declared, settings.process, log))
    manifest = _manifest(pack, declared, process, say)
    overrides = {
        name: value for name in GENERATION_SETTINGS if (value := getattr(settings.sampling, name)) is not None
    }
    setup = PackRunSetup(
        directory=pack.directory,
        manifest=manifest,
        digest=pack.record.tree_sha256
        if pack.record is not None
        else tree_digest(file_digests(pack.directory)),
        scenarios=_wanted(process.scenarios, settings.scenarios.scenario),
        configuration=configuration,
        models=models,
        directories=pack_directories(manifest.id),
        cells=CellSettings(
            run_id="",
            pack_id=manifest.id,
            generation=resolve_generation(
                manifest.sampling_defaults, {**overrides, **settings.sampling.param}, settings.limits.timeout
            ),
            max_seconds=settings.scenarios.scenario_seconds
            or configured_timeout({**manifest.sampling_defaults, **settings.sampling.param})
            or DEFAULT_SCENARIO_SECONDS,
            max_retries=settings.scenarios.cell_retries,
        ),
        bypasses_relay=settings.process.direct,
        listed_scenario_count=len(process.scenarios),
    )
    return LoadedPack(setup, process, targets, access)


def require_runnable_manifest(pack: InstalledPack) -> PackManifest:
    """Return the manifest of a pack if it can be run here.

    Raises:
        UserError: If the pack cannot be run. The message says why.
    """
    inspection = pack.inspection
    if inspection.manifest is not None and inspection.manifest.type == "web":
        raise UserError(f"{pack.id} is {NOT_RUNNABLE_MESSAGE}.")
    if inspection.status != "ready" or inspection.manifest is None:
        raise UserError(f"{pack.id} cannot be run ({inspection.status}): {inspection.error}")
    return inspection.manifest


def pack_directories(pack_id: str) -> PackDirectories:
    """Return the directories outside a run in which a pack may write."""
    cache = packs_cache_directory()
    return PackDirectories(
        data=cache / "data" / pack_id, cache=cache / "files" / pack_id, run=cache / "runs" / pack_id
    )


def pack_process(
    directory: Path, manifest: PackManifest, process: PackProcessSettings, log: LogCallback | None = None
) -> PackProcess:
    """Return the process of a pack, not yet started."""
    return PackProcess(
        directory,
        manifest.entry,
        home=pack_directories(manifest.id).data,
        limits=BridgeLimits(
            prepare_seconds=process.prepare_seconds, memory_bytes=process.pack_memory * 2**20
        ),
        log=log,
        node=process.node,
        libraries=pack_libraries_directory(),
    )


def prepare_chosen_models(
    endpoint: EndpointSettings, sampling: SamplingSettings, say: Say, *, direct: bool
) -> tuple[PackConfiguration, dict[str, RegisteredModel], list[Target], dict[str, Access]]:
    """Return the models of a pack run: (configuration, models by slot, targets, access by slot).

    `direct`: True if the pack calls the models itself, without the relay.
    """
    configuration = read_pack_configuration()
    tried = endpoint.models_under_test
    if endpoint.base_url or any(entry.base_url for entry in tried):
        return _models_at_address(endpoint, sampling, configuration, say, direct=direct)
    if tried and not configuration.models:
        return _models_at_address(endpoint, sampling, configuration, say, direct=direct)
    chosen = choose_models(configuration, [entry.model for entry in tried])
    if not chosen:
        raise UserError(
            f"No model: give --model and --base-url, or models in {packs_file()} (see docs/packs.md)."
        )
    models = {slot_of_model(number): model for number, model in enumerate(chosen)}
    providers = {provider.id: provider for provider in configuration.providers}
    access = {slot: configuration.access_to(model.provider) for slot, model in models.items()}
    targets = [
        find_target(model.model, providers[model.provider].base_url, slot, access=access[slot])
        for slot, model in models.items()
    ]
    for provider in dict.fromkeys(model.provider for model in chosen):
        say(DefaultServer(providers[provider].base_url, f"configured for {make_safe(provider)}").line)
    _check_direct(access, direct=direct)
    return configuration, models, targets, access


def _models_at_address(
    endpoint: EndpointSettings,
    sampling: SamplingSettings,
    configured: PackConfiguration,
    say: Say,
    *,
    direct: bool,
) -> tuple[PackConfiguration, dict[str, RegisteredModel], list[Target], dict[str, Access]]:
    if not endpoint.models_under_test:
        raise UserError("Missing option '--model': give the name of a model as the server lists it.")
    found = find_models(endpoint, sampling, ThinkingSettings(), {}, say, default_server())
    _check_direct(found.access, direct=direct)
    configuration = build_configuration(found.targets, found.access, found.display_names)
    configuration = msgspec.structs.replace(configuration, verifiers=configured.verifiers)
    models = dict(zip(found.display_names, configuration.models, strict=True))
    return configuration, models, list(found.targets), found.access


def _check_direct(access: Mapping[str, Access], *, direct: bool) -> None:
    if direct and any(one.headers or one.tls != NO_TLS_FILES for one in access.values()):
        raise UserError(
            "With --direct a pack asks by itself, and the protocol tells it of an address and a key only: "
            "leave out --direct, or headers and files for TLS."
        )


def _manifest(pack: InstalledPack, declared: PackManifest, process: PackProcess, say: Say) -> PackManifest:
    """Return the manifest that the pack's module gives. If that manifest is invalid, return the declared one."""
    manifest, remarks = effective_manifest(declared, process.manifest, pack.directory)
    for remark in remarks:
        say(f"Note: {make_safe(pack.id)}: {make_safe(remark)}.")
    if not process.scenarios:
        raise UserError(f"{pack.id} lists no scenarios.")
    return manifest


def _wanted(scenarios: Sequence[ScenarioMeta], names: Sequence[str]) -> list[ScenarioMeta]:
    if not names:
        return list(scenarios)
    known: Mapping[str, ScenarioMeta] = {scenario.id: scenario for scenario in scenarios}
    for name in names:
        if name not in known:
            raise UserError(f"The pack has no scenario {name!r}.{did_you_mean(name, known)}")
    return [known[name] for name in dict.fromkeys(names)]
