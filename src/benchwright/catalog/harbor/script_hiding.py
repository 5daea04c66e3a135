"""Hides solution and test scripts in an image from the agent, under a seal, and restores them for the tests.

An image contains such scripts if its authors copied a whole folder into it. Other files of a solution or of
tests may be the very subject of the task: they are not hidden, but reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchwright.catalog.containers.sealing.leaks import MAX_FILE_BYTES, Leaks, find_identical_files
from benchwright.catalog.harbor.environment import TaskContainers
from benchwright.catalog.harbor.settings import TaskSettings
from benchwright.sandbox.docker import DockerSandbox
from benchwright.sandbox.docker.archives import pack_files, path_stat, write_archive

REMOVING_SECONDS = 60.0
_SCRIPTS = re.compile(r"(?:solve|test|run-tests)\.sh|solution\.(?:sh|yaml)|test_[^/]*|[^/]*_test\.[^/]*")


class ScriptHider:
    """Searches images for a task's solution and tests, and hides the scripts found.

    Each image is searched once.
    """

    def __init__(self) -> None:
        self._searched: dict[tuple[str, Path], Leaks] = {}

    async def hide(self, place: TaskContainers, folder: Path, settings: TaskSettings) -> Leaks:
        """Search the image, remove solution and test scripts from the container, and return the findings.

        Raises:
            EngineError: If the engine does not respond.
        """
        key = place.image, folder
        if key not in self._searched:
            leaks = await find_identical_files(place.root_sandbox, _known_files(folder, settings))
            scripts = [path for path, what in leaks.found.items() if _SCRIPTS.fullmatch(Path(what).name)]
            self._searched[key] = msgspec.structs.replace(leaks, hidden=scripts)
        leaks = self._searched[key]
        if leaks.hidden:
            await place.root_sandbox.run(["rm", "-f", "--", *leaks.hidden], seconds=REMOVING_SECONDS)
        return leaks


async def restore_scripts(sandbox: DockerSandbox, leaks: Leaks, folder: Path) -> None:
    """Restore the hidden scripts. A script is skipped if a file exists at its path again.

    Raises:
        EngineError: If the engine does not respond, or refuses.
    """
    missing = [path for path in leaks.hidden if await path_stat(sandbox.container, path) is None]
    if missing:
        files = {path: (folder / leaks.found[path]).read_bytes() for path in missing}
        await write_archive(sandbox.container, "/", pack_files(files))


def _known_files(folder: Path, settings: TaskSettings) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the task's solutions and tests, each with its path in the task's folder."""
    tests = [name for step in settings.steps for name in step.tests]
    places = ["solution", "solution.sh", "solution.yaml", "run-tests.sh", *tests]
    places += [f"steps/{step.name}/solution" for step in settings.steps if step.name]
    for name in dict.fromkeys(places):
        place = folder / name
        for file in [place, *place.rglob("*")]:
            if file.is_file() and file.stat().st_size <= MAX_FILE_BYTES:
                yield str(file.relative_to(folder)), file.read_bytes()
