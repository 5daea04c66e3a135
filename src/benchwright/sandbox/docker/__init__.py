"""Containers: sandboxes for untrusted programs, and services with a port and a health check.

    async with connect() as engine:
        await remove_leftovers(engine)
        sandboxes = DockerSandboxes(engine, run_id)
        async with sandboxes.start(SandboxSpec("python:3.11", directory="/task")) as sandbox:
            await sandbox.write_files({"/task/main.py": source})
            ended = await sandbox.run(["python3", "main.py"], seconds=30)
        image = await build_image(engine, "benchwright/pack-verifier", folder, version)
        async with start_service(engine, ServiceSpec(image, port=4010), run_id) as service:
            await service.wait_until_healthy(probe)

Every container has labels that name its run and its process. It is removed when its context exits. Leftovers
of a killed process are removed by a later process. docs/sandbox.md states what containers prevent and what
they do not.
"""

from benchwright.sandbox.docker.building import build_image
from benchwright.sandbox.docker.cleanup import remove_leftovers
from benchwright.sandbox.docker.commands import ExecResult
from benchwright.sandbox.docker.containers import Resources
from benchwright.sandbox.docker.engine import Engine, check_disk_space, connect
from benchwright.sandbox.docker.errors import EngineError, EngineUnavailable
from benchwright.sandbox.docker.images import ImageProvider
from benchwright.sandbox.docker.sandbox import DockerSandbox, DockerSandboxes, Sandbox, SandboxSpec
from benchwright.sandbox.docker.service import (
    DockerService,
    Service,
    ServiceSpec,
    find_kept_services,
    start_service,
)

__all__ = [
    "DockerSandbox",
    "DockerSandboxes",
    "DockerService",
    "Engine",
    "EngineError",
    "EngineUnavailable",
    "ExecResult",
    "ImageProvider",
    "Resources",
    "Sandbox",
    "SandboxSpec",
    "Service",
    "ServiceSpec",
    "build_image",
    "check_disk_space",
    "connect",
    "find_kept_services",
    "remove_leftovers",
    "start_service",
]
