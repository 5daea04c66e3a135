"""Check that `pack install` makes before it installs a pack: a pack that does not load is not installed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchwright.app.event_loop import run_async
from benchwright.errors import ExecutionError, UserError
from benchwright.home import pack_libraries_directory
from benchwright.packs.bridge import PackProcess
from benchwright.packs.install.settings import PackCheck
from benchwright.packs.libraries import INSTALL_COMMAND, NPM_PROGRAM, install_libraries, is_missing_library
from benchwright.packs.manifest import PackManifest
from benchwright.packs.module_manifest import effective_manifest


def make_loading_check(node: str, say: Callable[[str], None]) -> PackCheck:
    """Return the check for `install`: the pack's code must load, list scenarios and agree with the manifest.

    If the pack imports a library that the desktop host supplies, and the library is not installed here, it is
    fetched first. If Node is missing for a JavaScript pack, the check is skipped with a note.
    """

    def check(directory: Path, manifest: PackManifest) -> None:
        try:
            for remark in _found(directory, manifest, node, say):
                say(f"Note: {manifest.id}: {remark}.")
        except ExecutionError as error:
            raise UserError(f"it does not load ({error})") from None
        except UserError as error:
            say(f"Note: it is not known whether {manifest.id} loads: {error}.")

    return check


def _found(directory: Path, manifest: PackManifest, node: str, say: Callable[[str], None]) -> list[str]:
    """Load a pack, and return remarks on the pack.

    Before that, fetch libraries that the pack needs, that the desktop host supplies, and that are not installed
    here.

    Raises:
        ExecutionError: If the pack does not load, or a library cannot be fetched.
        UserError: If Node is missing for it.
    """
    try:
        return run_async(_remarks(directory, manifest, node))
    except ExecutionError as error:
        if not is_missing_library(error):
            raise
        lack = str(error).partition(f"; run: {INSTALL_COMMAND}")[0]
    try:
        install_libraries(pack_libraries_directory(), NPM_PROGRAM, say)
    except UserError as error:
        why = str(error).removesuffix(".")
        raise ExecutionError(
            f"{lack}; {why}; once npm reaches its registry, run: {INSTALL_COMMAND}"
        ) from None
    return run_async(_remarks(directory, manifest, node))


async def _remarks(directory: Path, manifest: PackManifest, node: str) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="benchwright-load-") as home:
        loaded = PackProcess(
            directory, manifest.entry, home=Path(home), node=node, libraries=pack_libraries_directory()
        )
        async with loaded as process:
            _, remarks = effective_manifest(manifest, process.manifest, directory)
            return remarks if process.scenarios else [*remarks, "it lists no scenarios"]
