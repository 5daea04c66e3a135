"""Starts containers for tests that an agent cannot reach: snapshots of the agent's container.

These containers share only network, volumes and shared memory with the agent's container. Servers that the
agent started therefore answer in them, at the same addresses. The agent's processes see neither the tests nor
the files that tests write, and cannot end the tests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from contextlib import asynccontextmanager

import msgspec

from benchwright.catalog.containers.benchmark import Containers
from benchwright.catalog.containers.sealing.called_programs import paths_in_folders
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandbox, EngineError, SandboxSpec
from benchwright.sandbox.docker.archives import (
    FileMissing,
    FileTooLarge,
    PathStat,
    copy_path,
    path_stat,
    read_file,
    truncate_files,
)
from benchwright.sandbox.docker.cleanup import unstarted_container
from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.errors import convert_engine_errors
from benchwright.sandbox.docker.sandbox import ROOT_USER
from benchwright.sandbox.docker.snapshots import FileChange, list_file_changes, temporary_snapshot

REMOVING_SECONDS = 60.0
OWN_PROCESS_COUNT = 2
"""Number of Benchwright's own processes in every sandbox: the shell that waits, and its child."""


_NO_START = "OCI runtime create failed"
"""The engine's error message for a container whose first program is missing."""


class NoProgramStartsError(ExecutionError):
    """The error that no program starts in a container, because of the state in which the agent left it.

    The agent has then failed the task.
    """


class Verifier:
    """Starts containers for tests, as snapshots of an agent's container.

    `spec`: the sandbox spec of the agent's container. `own_processes`: the number of Benchwright's own
    processes in that container.
    """

    def __init__(
        self,
        containers: Containers,
        agent: Container,
        spec: SandboxSpec,
        own_processes: int = OWN_PROCESS_COUNT,
    ) -> None:
        self._own_processes = own_processes
        self._containers = containers
        self._agent = agent
        self._spec = spec

    @asynccontextmanager
    async def start(self, without: Sequence[FileChange] = ()) -> AsyncIterator[DockerSandbox]:
        """Start a container with the agent's current files; remove it on exit.

        The agent's changes `without` are undone before anything runs in the container.

        Raises:
            NoProgramStartsError: If the agent's files prevent any program from starting.
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
                    raise NoProgramStartsError(
                        "what the agent left does not keep a container running"
                    ) from error
        except EngineError as error:
            if _NO_START not in str(error):
                raise
            raise NoProgramStartsError("no program can be started in what the agent left") from error

    @asynccontextmanager
    async def _started(self, without: Sequence[FileChange]) -> AsyncIterator[DockerSandbox]:
        engine, run_id = self._containers.engine, self._containers.run_id
        added = [change.path for change in without if change.kind == "added"]
        async with temporary_snapshot(engine, self._agent, run_id) as image:
            spec = msgspec.structs.replace(
                self._spec, image=image, has_network=False, network_container=self._agent.name, mounts={}
            )

            async def undo(container: Container) -> None:
                await truncate_files(container, added)
                async with unstarted_container(engine, self._spec.image, run_id) as pristine:
                    for change in without:
                        if change.kind != "added":
                            await copy_path(pristine, container, change.path)

            prepare = undo if without else None
            async with self._containers.sandboxes.start_sharing_network(spec, prepare=prepare) as sandbox:
                if added:
                    root = DockerSandbox(sandbox.container, SandboxSpec(image, user=ROOT_USER))
                    await root.run(["rm", "-rf", "--", *added], seconds=REMOVING_SECONDS)
                yield sandbox

    @asynccontextmanager
    async def start_original(self) -> AsyncIterator[DockerSandbox]:
        """Start a container of the original image: without the agent's files, but on the agent's network.

        Raises:
            EngineError: If the container cannot be started, or the engine does not respond.
        """
        spec = msgspec.structs.replace(
            self._spec, has_network=False, network_container=self._agent.name, mounts={}
        )
        async with self._containers.sandboxes.start_sharing_network(spec) as sandbox:
            yield sandbox

    async def list_changes(self) -> list[FileChange]:
        """List the agent's changes to files, as the engine reports them."""
        return await list_file_changes(self._agent)

    async def find_existing_programs(self, names: Collection[str], folders: Iterable[str]) -> frozenset[str]:
        """Return the names for which the image has a program in one of these folders."""
        if not names:
            return frozenset()
        engine, run_id = self._containers.engine, self._containers.run_id
        found = set()
        async with unstarted_container(engine, self._spec.image, run_id) as pristine:
            for name, path in paths_in_folders(sorted(names), folders):
                if name not in found and await path_stat(pristine, path) is not None:
                    found.add(name)
        return frozenset(found)

    async def stat_path(self, path: str) -> PathStat | None:
        """Return the file status of a path in the agent's container. Return None if nothing exists there."""
        return await path_stat(self._agent, path)

    async def read_text(self, path: str, most: int) -> str:
        """Return the text of a file that the agent left.

        Return "" if the file is missing or longer than `most` bytes.
        """
        try:
            return (await read_file(self._agent, path, most)).decode("utf-8", "replace")
        except (FileMissing, FileTooLarge):
            return ""

    async def is_agent_running(self) -> bool:
        """Return True if processes of the agent are still running."""
        with convert_engine_errors("listing the processes of a container"):
            listed = await self._agent.handle.top()
        return len(listed["Processes"]) > self._own_processes


async def _has_ended_by_itself(sandbox: DockerSandbox) -> bool:
    """Return True if the container's first process ended although nobody had stopped the container."""
    state = await sandbox.container.state_after_end()
    return state.get("Status") == "exited" and sandbox.container.trouble is None
