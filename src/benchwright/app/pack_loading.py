"""Loads a pack to learn whether it does: for `pack install`, which refuses one that does not."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchwright.app.loop import run_async
from benchwright.errors import ExecutionError, UserError
from benchwright.home import pack_libraries
from benchwright.packs.bridge import PackProcess
from benchwright.packs.install.settings import Check
from benchwright.packs.manifest import PackManifest
from benchwright.packs.own_manifest import settled


def loading_check(node: str, say: Callable[[str], None]) -> Check:
    """A check for `install`: the pack's module loads, lists scenarios and agrees with its manifest.

    Without a Node for a JavaScript pack there is nothing to find out, and one line says so.
    """

    def check(directory: Path, manifest: PackManifest) -> None:
        try:
            for remark in run_async(_remarks(directory, manifest, node)):
                say(f"Note: {manifest.id}: {remark}.")
        except ExecutionError as error:
            raise UserError(f"it does not load ({error})") from None
        except UserError as error:
            say(f"Note: it is not known whether {manifest.id} loads: {error}.")

    return check


async def _remarks(directory: Path, manifest: PackManifest, node: str) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="benchwright-load-") as home:
        loaded = PackProcess(
            directory, manifest.entry, home=Path(home), node=node, libraries=pack_libraries()
        )
        async with loaded as process:
            _, remarks = settled(manifest, process.manifest, directory)
            return remarks if process.scenarios else [*remarks, "it lists no scenarios"]
