"""Artifacts: what an agent left is taken out of its containers, and laid where it was in the container of the tests.

Files go through the engine's archive interface, so that no program of the agent's container takes part; collect
commands run there first, where the task says so. Nothing is kept on this machine but a list of what was brought.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.catalog.harbor.environment import Place
from benchwright.catalog.harbor.settings import Artifact, Collect, Step
from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker import DockerSandbox, SandboxSpec
from benchwright.sandbox.docker.archives import read_archive
from benchwright.sandbox.docker.containers import Container, MiB
from benchwright.sandbox.docker.elsewhere import write_elsewhere

LARGEST = 256 * MiB
"""Bytes of one artifact."""
CLEARING_SECONDS = 60.0


class Taken(NamedTuple):
    """An artifact and its archive; None where there is nothing at its place."""

    artifact: Artifact
    archive: bytes | None


class Brought(Record, frozen=True):
    """What came of one artifact: how many files and links, and how many entries were left out as unsafe."""

    source: str
    service: str = ""
    files: int = 0
    refused: int = 0
    missing: bool = False


async def take(place: Place, step: Step, *, over: bool) -> list[Taken]:
    """Runs the collect commands, and takes the artifacts that tests elsewhere need, from the agent's container first.

    Where the agent's container is not needed any more (`over`), it is ended before its neighbours are looked at, so
    that nothing that the agent left can meddle.

    Raises:
        ExecutionError: an artifact is too large, or the engine does not answer.
    """
    wanted = step.artifacts if step.verifier is not None else []
    taken: list[Taken] = []
    for is_agents in (True, False):
        collects = [one for one in step.collect if (one.service == "") is is_agents]
        artifacts = [one for one in wanted if (one.service == "") is is_agents]
        if not is_agents and over and (collects or artifacts):
            await place.sandbox.container.kill("the agent is done")
        for collect in collects:
            await _run(place, collect)
        for artifact in artifacts:
            archive = await read_archive(_container(place, artifact.service), artifact.source, LARGEST)
            taken.append(Taken(artifact, archive))
    return taken


async def bring(place: Place, taken: Sequence[Taken]) -> list[Brought]:
    """Lays artifacts where they were; a folder takes the place of what is there.

    Raises:
        ExecutionError: the engine does not answer, or refuses.
    """
    brought = []
    for artifact, archive in taken:
        if archive is None:
            brought.append(Brought(artifact.source, artifact.service, missing=True))
            continue
        await place.as_root.run(["rm", "-rf", "--", artifact.source], seconds=CLEARING_SECONDS)
        container = place.sandbox.container
        files, refused = await write_elsewhere(container, archive, artifact.source, artifact.exclude)
        brought.append(Brought(artifact.source, artifact.service, files, refused))
    return brought


def _container(place: Place, service: str) -> Container:
    return place.neighbours[service] if service else place.sandbox.container


async def _run(place: Place, collect: Collect) -> None:
    """Runs a command that may fail."""
    container = _container(place, collect.service)
    sandbox = DockerSandbox(container, SandboxSpec(place.image, user=collect.user))
    try:
        await sandbox.run(["sh", "-c", collect.command], seconds=collect.seconds)
    except ExecutionError:
        pass  # what it should have left is then missing among the artifacts
