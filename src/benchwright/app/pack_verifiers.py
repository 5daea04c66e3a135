"""Verifiers of a pack (containers that check its answers): during a run, or started by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from benchwright.app.pack_observer import PackObserver
from benchwright.app.pack_setup import require_runnable_manifest
from benchwright.app.pack_store import read_pack_configuration
from benchwright.errors import UserError
from benchwright.home import packs_directory
from benchwright.packs.install import find_pack
from benchwright.packs.task import PackRunSetup
from benchwright.packs.types import VerifierEndpoint
from benchwright.packs.verifiers import (
    PackVerifiers,
    StartedVerifiers,
    VerifierProgress,
    VerifierStartOptions,
    running_verifiers,
    stop_verifiers,
    verifier_states,
)
from benchwright.sandbox.docker import EngineError

MANUAL_RUN_ID = "by-hand"
"""Name that verifiers started outside a run get instead of a run id."""


@asynccontextmanager
async def open_verifiers(
    setup: PackRunSetup, watch: PackObserver, *, keep: bool
) -> AsyncIterator[StartedVerifiers]:
    """Start the verifiers of a run before the first request to a model, and yield the verifiers. Close them on exit.

    Progress is reported to `watch`. `keep`: leave the verifiers' containers running on exit.
    """
    manifest = setup.manifest

    def report(preparing: VerifierProgress) -> None:
        watch.on_verifier_progress(
            benchPackId=manifest.id,
            benchPackName=manifest.name,
            verifierId=preparing.verifier_id,
            phase=preparing.phase,
            message=preparing.message,
        )
        watch.log("info", f"verifier {preparing.verifier_id}: {preparing.message}", None)

    own = setup.configuration.verifiers.get(manifest.id, {})
    pack = PackVerifiers(manifest.id, manifest.version, setup.directory, manifest.verifiers, own)
    run_id = MANUAL_RUN_ID if watch.table is None else watch.table.directory.name
    async with running_verifiers(pack, VerifierStartOptions(run_id, keep), report) as verifiers:
        for verifier_id, written in verifiers.logs.items():
            for line in written.splitlines():
                watch.log("error", f"verifier {verifier_id} wrote: {line}", None)
        verifiers.require_running()
        yield verifiers


async def verifier_states_of_pack(reference: str) -> list[VerifierEndpoint]:
    """Return the state of a pack's verifiers without starting any.

    Raises:
        UserError: If there is no such pack, or Docker does not respond.
    """
    try:
        return await verifier_states(_pack(reference))
    except EngineError as error:
        raise UserError(f"Docker does not answer: {error}.") from None


async def start_verifiers(
    reference: str, report: Callable[[VerifierProgress], None]
) -> list[VerifierEndpoint]:
    """Start the verifiers of a pack, which run until they are stopped. Return their states.

    Raises:
        UserError: If there is no such pack.
    """
    async with running_verifiers(
        _pack(reference), VerifierStartOptions(MANUAL_RUN_ID, keep_running=True), report
    ) as verifiers:
        return list(verifiers.endpoints)


async def stop_verifiers_of_pack(reference: str) -> list[str]:
    """Stop the verifiers of a pack that were left running. Return the names of their containers.

    Raises:
        UserError: If there is no such pack, or Docker does not respond.
    """
    pack = _pack(reference)
    try:
        return await stop_verifiers(pack.id, [spec.id for spec in pack.specs])
    except EngineError as error:
        raise UserError(f"The verifiers cannot be stopped: {error}.") from None


def _pack(reference: str) -> PackVerifiers:
    pack = find_pack(reference, packs_directory())
    manifest = require_runnable_manifest(pack)
    if not manifest.verifiers:
        raise UserError(f"{pack.id} has no verifiers.")
    own = read_pack_configuration().verifiers.get(manifest.id, {})
    return PackVerifiers(manifest.id, manifest.version, pack.directory, manifest.verifiers, own)
