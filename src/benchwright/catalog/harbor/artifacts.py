"""Artifacts: files copied from the agent's containers to the same paths in the separate container of the tests.

They are copied through the engine's archive interface, so that no program of the agent's container takes
part. If a task has collect commands, these run in the agent's container first. Only a list of the copied
files is kept on this machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchwright.catalog.harbor.environment import TaskContainers
from benchwright.catalog.harbor.settings import Artifact, CollectCommand, Step
from benchwright.errors import ExecutionError
from benchwright.records import Record
from benchwright.sandbox.docker import DockerSandbox, SandboxSpec
from benchwright.sandbox.docker.archives import read_archive
from benchwright.sandbox.docker.containers import Container, MiB
from benchwright.sandbox.docker.tree_transfer import write_tree_at

MAX_ARTIFACT_BYTES = 256 * MiB
"""Maximum size in bytes of one artifact."""
CLEARING_SECONDS = 60.0


class CollectedArtifact(NamedTuple):
    """An artifact and its archive. The archive is None if nothing exists at the artifact's path."""

    artifact: Artifact
    archive: bytes | None


class CopiedArtifact(Record, frozen=True):
    """Result of copying one artifact: the number of files and links, and the number of entries left out as unsafe."""

    source: str
    service: str = ""
    files: int = 0
    refused: int = 0
    missing: bool = False


async def collect_artifacts(place: TaskContainers, step: Step, *, over: bool) -> list[CollectedArtifact]:
    """Run the collect commands. Then read and return the artifacts that the separate container of the tests needs.

    The agent's container is read first. If that container is no longer needed (`over`), it is stopped before
    its neighbours are read, so that programs that the agent left running cannot interfere.

    Raises:
        ExecutionError: If an artifact is too large, or the engine does not respond.
    """
    wanted = step.artifacts if step.verifier is not None else []
    taken: list[CollectedArtifact] = []
    for is_agents in (True, False):
        collects = [one for one in step.collect if (one.service == "") is is_agents]
        artifacts = [one for one in wanted if (one.service == "") is is_agents]
        if not is_agents and over and (collects or artifacts):
            await place.sandbox.container.kill("the agent is done")
        for collect in collects:
            await _run(place, collect)
        for artifact in artifacts:
            archive = await read_archive(
                _container(place, artifact.service), artifact.source, MAX_ARTIFACT_BYTES
            )
            taken.append(CollectedArtifact(artifact, archive))
    return taken


async def copy_artifacts(place: TaskContainers, taken: Sequence[CollectedArtifact]) -> list[CopiedArtifact]:
    """Write the artifacts to their original paths, and return one result for each artifact.

    If an artifact is a folder, it replaces whatever exists at its path.

    Raises:
        ExecutionError: If the engine does not respond, or refuses.
    """
    brought = []
    for artifact, archive in taken:
        if archive is None:
            brought.append(CopiedArtifact(artifact.source, artifact.service, missing=True))
            continue
        await place.root_sandbox.run(["rm", "-rf", "--", artifact.source], seconds=CLEARING_SECONDS)
        container = place.sandbox.container
        files, refused = await write_tree_at(container, archive, artifact.source, artifact.exclude)
        brought.append(CopiedArtifact(artifact.source, artifact.service, files, refused))
    return brought


def _container(place: TaskContainers, service: str) -> Container:
    return place.neighbours[service] if service else place.sandbox.container


async def _run(place: TaskContainers, collect: CollectCommand) -> None:
    """Run a collect command. If it fails, ignore the failure."""
    container = _container(place, collect.service)
    sandbox = DockerSandbox(container, SandboxSpec(place.image, user=collect.user))
    try:
        await sandbox.run(["sh", "-c", collect.command], seconds=collect.seconds)
    except ExecutionError:
        pass  # the files that it should have written are then missing among the artifacts
