"""`pack test`: a pack against canned answers, with its verifiers, in directories of its own."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.app.pack_info import Validation, validate_pack
from benchwright.app.pack_setup import pack_process, usable
from benchwright.app.pack_store import read_own_configuration
from benchwright.config import PackSettings
from benchwright.packs.bridge import PackProcess
from benchwright.packs.configuration import for_targets
from benchwright.packs.context import PackDirectories, host_context, resolve_generation
from benchwright.packs.contract import CannedModel, Finding, check_contract, read_answers
from benchwright.packs.contract.answers import ANSWERS_FILE
from benchwright.packs.install import find_pack
from benchwright.packs.manifest import PackManifest
from benchwright.packs.types import RegisteredModel, VerifierEndpoint
from benchwright.packs.verifiers import PackVerifiers, Start, VerifierProgress, running_verifiers
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import Record, Target

BY_TEST = "pack-test"
"""Stands for the run of verifiers that a test needs."""


class ContractTest(Record, frozen=True):
    """What `pack test` found: `findings` are there where the pack is valid; `answers` were tried."""

    validation: Validation
    findings: Sequence[Finding] = ()
    answers: int = 0

    @property
    def problems(self) -> list[str]:
        """All that is wrong, a line each."""
        broken = [f"{one.check}: {one.text}" for one in self.findings if one.problem]
        return [*self.validation.problems, *broken]


async def run_contract_test(
    path: Path, settings: PackSettings, answers: Path | None, report: Callable[[VerifierProgress], None]
) -> ContractTest:
    """Validates a pack's directory, then tries it out with the canned answers in a file: the one given, or the pack's.

    Raises:
        UserError: there is no such pack or file, or a required verifier is not available.
        ExecutionError: the pack's `prepare` fails.
    """
    validation = await validate_pack(path, settings)
    if validation.problems:
        return ContractTest(validation)
    manifest = usable(
        find_pack(str(validation.directory), Path(), settings.compatible_version or COMPATIBLE_VERSION)
    )
    heard = _Heard()
    own = validation.directory / ANSWERS_FILE
    file = answers or (own if own.is_file() else None)
    with tempfile.TemporaryDirectory(prefix="benchwright-test-") as room:
        async with (
            CannedModel() as server,
            _verifiers(manifest, validation.directory, report) as verifiers,
            pack_process(validation.directory, manifest, settings, heard.note) as process,
        ):
            canned = [] if file is None else read_answers(file, [one.id for one in process.scenarios])
            model = await _prepare(process, manifest, validation.directory, Path(room), server, verifiers)
            generation = resolve_generation(manifest.sampling_defaults, settings.param, settings.timeout)
            findings = await check_contract(process, model, generation, server, canned)
    return ContractTest(validation, [*findings, *heard.findings], len(canned))


class _Heard:
    """What the bridge says of a pack's late events and lost promises."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def note(self, level: str, message: str, meta: object) -> None:
        """Takes a line of the log in."""
        if level == "warn" and message.startswith(("a progress event", "a promise was rejected")):
            self.findings.append(Finding("events", message, problem=True))


async def _prepare(
    process: PackProcess,
    manifest: PackManifest,
    directory: Path,
    room: Path,
    server: CannedModel,
    verifiers: Sequence[VerifierEndpoint],
) -> RegisteredModel:
    """Prepares the pack for the canned model, which it asks without a relay."""
    configuration = for_targets([Target("primary", server.name, server.base_url, {})], {"primary": None})
    directories = PackDirectories(room / "data", room / "cache", room / "run")
    directories.create()
    models = configuration.models
    await process.prepare(
        host_context(manifest, directory, directories, configuration, models, verifiers, None)
    )
    return models[0]


@asynccontextmanager
async def _verifiers(
    manifest: PackManifest, directory: Path, report: Callable[[VerifierProgress], None]
) -> AsyncIterator[Sequence[VerifierEndpoint]]:
    if not manifest.verifiers:
        yield []
        return
    own = read_own_configuration().verifiers.get(manifest.id, {})
    pack = PackVerifiers(manifest.id, manifest.version, directory, manifest.verifiers, own)
    async with running_verifiers(pack, Start(BY_TEST), report) as verifiers:
        verifiers.require()
        yield verifiers.endpoints
