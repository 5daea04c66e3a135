"""Starts containers for tests that an agent cannot reach: snapshots of the agent's container.

They share only its network, volumes and shared memory, so servers that the agent started answer there, at the
same addresses. The agent's processes see neither the tests nor the files that these write, and cannot end
them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.sealing.called_programs import paths_of
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandbox, EngineError, SandboxSpec
from benchwright.sandbox.docker.archives import (
    FileTooLarge,
    NoFile,
    PathStat,
    copy_path,
    empty_files,
    path_stat,
    read_file,
)
from benchwright.sandbox.docker.cleanup import unstarted_container
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.errors import engine_errors
from benchwright.sandbox.docker.sandbox import ROOT_USER
from benchwright.sandbox.docker.snapshots import FileChange, changes_of, snapshot_of

REMOVING_SECONDS = 60.0
OWN_PROCESSES = 2
"""Number of Benchwright's processes in every sandbox: the shell that waits, and its child."""


_NO_START = "OCI runtime create failed"
"""The engine's message for a container whose first program is missing."""


class NoProgramStarts(ExecutionError):
    """The agent has left its container in a state in which no program starts. It has failed the task."""


class Verifier:
    """Starts containers for tests, as snapshots of an agent's container.

    `spec`: the sandbox spec of the agent's container. `own_processes`: the number of Benchwright's processes
    in it.
    """

    def __init__(
        self, containers: Containers, agent: Container, spec: SandboxSpec, own_processes: int = OWN_PROCESSES
    ) -> None:
        self._own_processes = own_processes
        self._containers = containers
        self._agent = agent
        self._spec = spec

    @asynccontextmanager
    async def start(self, without: Sequence[FileChange] = ()) -> AsyncIterator[DockerSandbox]:
        """Start a container with the agent's current files, without the changes `without`; remove it on exit.

        These changes are undone before anything runs in the container.

        Raises:
            NoProgramStarts: If the agent's files prevent any program from starting.
            EngineError: If the container cannot be started for another reason, or the engine does not
                respond.
        """
        try:
            async with self._started(without) as sandbox:
                try:
                    yield sandbox
                except EngineError as error:
                    if not await _has_ended_by_itself(sandbox):
                        raise
                    raise NoProgramStarts("what the agent left does not keep a container running") from error
        except EngineError as error:
            if _NO_START not in str(error):
                raise
            raise NoProgramStarts("no program can be started in what the agent left") from error

    @asynccontextmanager
    async def _started(self, without: Sequence[FileChange]) -> AsyncIterator[DockerSandbox]:
        engine, run_id = self._containers.engine, self._containers.run_id
        added = [change.path for change in without if change.kind == "added"]
        async with snapshot_of(engine, self._agent, run_id) as image:
            spec = msgspec.structs.replace(
                self._spec, image=image, has_network=False, network_container=self._agent.name, mounts={}
            )

            async def undo(container: Container) -> None:
                await empty_files(container, added)
                async with unstarted_container(engine, self._spec.image, run_id) as pristine:
                    for change in without:
                        if change.kind != "added":
                            await copy_path(pristine, container, change.path)

            prepare = undo if without else None
            async with self._containers.sandboxes.start_beside(spec, prepare=prepare) as sandbox:
                if added:
                    root = DockerSandbox(sandbox.container, SandboxSpec(image, user=ROOT_USER))
                    await root.run(["rm", "-rf", "--", *added], seconds=REMOVING_SECONDS)
                yield sandbox

    @asynccontextmanager
    async def start_original(self) -> AsyncIterator[DockerSandbox]:
        """Start a container of the original image, without the agent's files, but on the agent's network.

        Raises:
            EngineError: If the container cannot be started, or the engine does not respond.
        """
        spec = msgspec.structs.replace(
            self._spec, has_network=False, network_container=self._agent.name, mounts={}
        )
        async with self._containers.sandboxes.start_beside(spec) as sandbox:
            yield sandbox

    async def list_changes(self) -> list[FileChange]:
        """List the agent's changes to files, as the engine reports them."""
        return await changes_of(self._agent)

    async def existing_programs(self, names: Collection[str], folders: Iterable[str]) -> frozenset[str]:
        """Return the names for which the image has a program in one of these folders."""
        if not names:
            return frozenset()
        engine, run_id = self._containers.engine, self._containers.run_id
        found = set()
        async with unstarted_container(engine, self._spec.image, run_id) as pristine:
            for name, path in paths_of(sorted(names), folders):
                if name not in found and await path_stat(pristine, path) is not None:
                    found.add(name)
        return frozenset(found)

    async def stat(self, path: str) -> PathStat | None:
        """Return the file status of a path in the agent's container. None if nothing exists there."""
        return await path_stat(self._agent, path)

    async def read_text(self, path: str, most: int) -> str:
        """Return the text of a file that the agent left.

        Empty if it is missing or longer than `most` bytes.
        """
        try:
            return (await read_file(self._agent, path, most)).decode("utf-8", "replace")
        except (NoFile, FileTooLarge):
            return ""

    async def agent_is_at_work(self) -> bool:
        """Return true if processes of the agent are still running."""
        with engine_errors("listing the processes of a container"):
            listed = await self._agent.handle.top()
        return len(listed["Processes"]) > self._own_processes


async def _has_ended_by_itself(sandbox: DockerSandbox) -> bool:
    """Return true if the container's first process ended, and nobody had stopped the container."""
    state = await sandbox.container.state_after_end()
    return state.get("Status") == "exited" and sandbox.container.trouble is None
