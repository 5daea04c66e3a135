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
from benchwright.packs.bridge import PackLog, PackProcess
from benchwright.packs.configuration import for_targets
from benchwright.packs.context import PackDirectories, host_context, resolve_generation
from benchwright.packs.contract import (
    CannedAnswer,
    CannedModel,
    CannedTrial,
    Finding,
    check_contract,
    read_answers,
)
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
    heard = _Heard()
    directory = validation.directory
    async with trying(directory, settings, report, heard.note) as trial:
        canned = answers_of(directory, answers, trial)
        findings = await check_contract(trial, canned)
    return ContractTest(validation, [*findings, *heard.findings], len(canned))


@asynccontextmanager
async def trying(
    directory: Path, settings: PackSettings, report: Callable[[VerifierProgress], None], log: PackLog
) -> AsyncIterator[CannedTrial]:
    """A pack that is loaded and prepared for the canned model, in directories that end with it.

    Raises (on entering):
        UserError: it cannot be run here, or a required verifier is not available.
        ExecutionError: it does not load, or its `prepare` fails.
    """
    manifest = usable(find_pack(str(directory), Path(), settings.compatible_version or COMPATIBLE_VERSION))
    with tempfile.TemporaryDirectory(prefix="benchwright-test-") as room:
        async with (
            CannedModel() as server,
            _verifiers(manifest, directory, report) as verifiers,
            pack_process(directory, manifest, settings, log) as process,
        ):
            model = await _prepare(process, manifest, directory, Path(room), server, verifiers)
            generation = resolve_generation(manifest.sampling_defaults, settings.param, settings.timeout)
            yield CannedTrial(process, model, generation, server)


def answers_of(directory: Path, given: Path | None, trial: CannedTrial) -> list[CannedAnswer]:
    """The canned answers in the file given, or in the pack's own; none where there is no file.

    Raises:
        UserError: the file cannot be read, or a line is not an answer to a scenario of the pack.
    """
    own = directory / ANSWERS_FILE
    file = given or (own if own.is_file() else None)
    return [] if file is None else read_answers(file, [one.id for one in trial.pack.scenarios])


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
    configuration = for_targets([Target("primary", server.name, server.base_url, {})], {})
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
