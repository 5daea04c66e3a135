"""Verifiers of a pack: programs that check answers, in containers or at addresses.

They are located or started before a pack's first request, checked while the pack runs, and ended with the
run.

    pack = PackVerifiers(manifest.id, manifest.version, directory, manifest.verifiers, settings)
    async with running_verifiers(pack, VerifierStartOptions(run_id), report) as verifiers:
        verifiers.require_running()
        ...                        # verifiers.endpoints go into the host context
        await verifiers.check()    # before each cell
        await verifiers.recheck()  # when a cell failed
"""

from benchwright.packs.verifiers.running_verifiers import StartedVerifiers, running_verifiers
from benchwright.packs.verifiers.starting import VerifierProgress, VerifierStartOptions
from benchwright.packs.verifiers.states import remove_images, stop_verifiers, verifier_states
from benchwright.packs.verifiers.verifier_location import PackVerifiers, VerifierLocation, locate_verifiers

__all__ = [
    "PackVerifiers",
    "StartedVerifiers",
    "VerifierLocation",
    "VerifierProgress",
    "VerifierStartOptions",
    "locate_verifiers",
    "remove_images",
    "running_verifiers",
    "stop_verifiers",
    "verifier_states",
]
