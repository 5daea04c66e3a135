"""`pack test`: tries a pack with canned (prepared) answers and its verifiers, in temporary directories."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from benchwright.app.pack_info import PackValidation, validate_pack
from benchwright.app.pack_setup import pack_process, require_runnable_manifest
from benchwright.app.pack_store import read_pack_configuration
from benchwright.config import LimitSettings, PackProcessSettings
from benchwright.packs.bridge import LogCallback, PackProcess
from benchwright.packs.configuration import build_configuration
from benchwright.packs.context import PackDirectories, host_context, resolve_generation
from benchwright.packs.contract import (
    CannedAnswer,
    CannedModel,
    CannedTrial,
    ContractFinding,
    check_contract,
    read_answers,
)
from benchwright.packs.contract.answers import ANSWERS_FILE
from benchwright.packs.install import find_pack
from benchwright.packs.manifest import PackManifest
from benchwright.packs.types import RegisteredModel, VerifierEndpoint
from benchwright.packs.verifiers import (
    PackVerifiers,
    VerifierProgress,
    VerifierStartOptions,
    running_verifiers,
)
from benchwright.packs.versions import COMPATIBLE_VERSION
from benchwright.records import Record, Target

TEST_RUN_ID = "pack-test"
"""Name that the verifiers of a test get instead of a run id."""


class ContractTest(Record, frozen=True):
    """Result of `pack test`.

    `findings`: breaches of the contract; they are looked for only if the pack is valid. `answers`: number of canned
    answers tried.
    """

    validation: PackValidation
    findings: Sequence[ContractFinding] = ()
    answers: int = 0

    @property
    def problems(self) -> list[str]:
        """All problems found, one line each."""
        broken = [f"{one.check}: {one.text}" for one in self.findings if one.problem]
        return [*self.validation.problems, *broken]


async def run_contract_test(
    path: Path, process: PackProcessSettings, answers: Path | None, report: Callable[[VerifierProgress], None]
) -> ContractTest:
    """Validate a pack's directory, then try the pack with canned answers. Return the result.

    `answers`: the file of the canned answers, by default the pack's own file.

    Raises:
        UserError: If there is no such pack or file, or a required verifier is not available.
        ExecutionError: If the pack's `prepare` fails.
    """
    validation = await validate_pack(path, process)
    if validation.problems:
        return ContractTest(validation)
    heard = _BridgeWarnings()
    directory = validation.directory
    async with canned_trial(directory, process, report, heard.note) as trial:
        canned = canned_answers(directory, answers, trial)
        findings = await check_contract(trial, canned)
    return ContractTest(validation, [*findings, *heard.findings], len(canned))


@asynccontextmanager
async def canned_trial(
    directory: Path,
    process: PackProcessSettings,
    report: Callable[[VerifierProgress], None],
    log: LogCallback,
) -> AsyncIterator[CannedTrial]:
    """Load a pack, and prepare it for the canned model (a server with prepared answers) in temporary directories.

    Yield what a trial of a canned answer needs: the running pack, the model, its generation settings and its server.
    Everything is closed on exit.
    """
    manifest = require_runnable_manifest(
        find_pack(str(directory), Path(), process.compatible_version or COMPATIBLE_VERSION)
    )
    with tempfile.TemporaryDirectory(prefix="benchwright-test-") as room:
        async with (
            CannedModel() as server,
            _verifiers(manifest, directory, report) as verifiers,
            pack_process(directory, manifest, process, log) as running,
        ):
            model = await _prepare(running, manifest, directory, Path(room), server, verifiers)
            generation = resolve_generation(manifest.sampling_defaults, {}, LimitSettings().timeout)
            yield CannedTrial(running, model, generation, server)


def canned_answers(directory: Path, given: Path | None, trial: CannedTrial) -> list[CannedAnswer]:
    """Return the canned answers in the `given` file, by default in the pack's own file. Empty if there is no file.

    Raises:
        UserError: If the file cannot be read, or a line is not an answer to a scenario of the pack.
    """
    own = directory / ANSWERS_FILE
    file = given or (own if own.is_file() else None)
    return [] if file is None else read_answers(file, [one.id for one in trial.pack.scenarios])


class _BridgeWarnings:
    """Listener that collects two kinds of log warnings: late events, and unhandled promise rejections."""

    def __init__(self) -> None:
        self.findings: list[ContractFinding] = []

    def note(self, level: str, message: str, meta: object) -> None:
        """Collect a log line if it warns of a late event or of an unhandled promise rejection.

        Ignore all other log lines.
        """
        if level == "warn" and message.startswith(("a progress event", "a promise was rejected")):
            self.findings.append(ContractFinding("events", message, problem=True))


async def _prepare(
    process: PackProcess,
    manifest: PackManifest,
    directory: Path,
    room: Path,
    server: CannedModel,
    verifiers: Sequence[VerifierEndpoint],
) -> RegisteredModel:
    """Prepare the pack for the canned model. Return that model. The pack calls the model directly, without a relay."""
    configuration = build_configuration([Target("primary", server.name, server.base_url, {})], {})
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
    own = read_pack_configuration().verifiers.get(manifest.id, {})
    pack = PackVerifiers(manifest.id, manifest.version, directory, manifest.verifiers, own)
    async with running_verifiers(pack, VerifierStartOptions(TEST_RUN_ID), report) as verifiers:
        verifiers.require_running()
        yield verifiers.endpoints
