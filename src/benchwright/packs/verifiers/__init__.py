"""Verifiers of a pack: programs that check answers, in containers or at addresses.

They are located or started before a pack's first request, checked while it runs, and ended with the run.

    pack = PackVerifiers(manifest.id, manifest.version, directory, manifest.verifiers, settings)
    async with running_verifiers(pack, Start(run_id), report) as verifiers:
        verifiers.require()
        ...                        # verifiers.endpoints go into the host context
        await verifiers.check()    # before each cell
        await verifiers.recheck()  # when a cell failed
"""

from benchwright.packs.verifiers.choice import PackVerifiers, VerifierLocation, choices
from benchwright.packs.verifiers.running import Verifiers, running_verifiers
from benchwright.packs.verifiers.starting import StartOptions, VerifierProgress
from benchwright.packs.verifiers.states import remove_images, stop_verifiers, verifier_states

__all__ = [
    "PackVerifiers",
    "StartOptions",
    "VerifierLocation",
    "VerifierProgress",
    "Verifiers",
    "choices",
    "remove_images",
    "running_verifiers",
    "stop_verifiers",
    "verifier_states",
]
