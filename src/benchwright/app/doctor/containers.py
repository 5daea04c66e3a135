"""Findings on containers: the engine, its disk, images and leftovers of killed runs, the `docker` program."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

from benchwright.app.doctor.findings import Finding, FindingState
from benchwright.app.doctor.programs import first_output_line
from benchwright.formats import count_with_noun

if TYPE_CHECKING:
    from benchwright.sandbox.docker import Engine

BYTES_PER_GIB = 2**30
ENGINE_TIMEOUT = 6.0
"""Maximum seconds for the engine to respond."""
PULL_SECONDS = 30.0
LOW_DISK_BYTES = 20 * BYTES_PER_GIB
MIN_API_VERSION = (1, 41)
TEST_IMAGE = "hello-world:latest"

CONTAINER_USES_TEXT = "benchmarks in containers (terminal_bench, swe_bench and others) and verifiers of packs"

IMAGE_PREFIXES = {
    "swe_bench": "swebench/sweb.eval.",
    "swe_bench_pro": "jefzda/sweap-images",
    "built here": "benchwright/",
}
"""Mapping from a benchmark or origin, as named in a finding, to the prefix of its container images' names."""

RESOURCE_BY_DOCKER_FIELD = {"MemoryLimit": "memory", "PidsLimit": "processes", "CpuCfsQuota": "processors"}
"""Mapping from a field of `docker info` to the resource that the engine must be able to limit."""


def check_docker_program() -> Iterator[Finding]:
    """Yield a finding on the `docker` program, without which images cannot be built."""
    builds = "building images: tasks of terminal_bench, verifiers of packs"
    program = shutil.which("docker")
    if program is None:
        advice = "Debian and Ubuntu: `apt-get install docker.io` or `docker-cli`."
        yield Finding("docker program", "not on the PATH", "missing", builds, advice)
        return
    said = first_output_line([program, "--version"])
    if said is None:
        advice = "Run `docker --version` to see what is wrong."
        yield Finding("docker program", f"{program} does not answer", "problem", builds, advice)
        return
    yield Finding("docker program", f"{said} ({program})")
    buildx = first_output_line([program, "buildx", "version"])
    if buildx is not None:
        yield Finding("docker buildx", buildx)
        return
    advice = "Debian: `apt-get install docker-buildx`; from Docker's repository: docker-buildx-plugin."
    yield Finding("docker buildx", "not installed", "missing", "Dockerfiles that need BuildKit", advice)


def check_engine(*, call_out: bool) -> Iterator[Finding]:
    """Yield findings on the container engine: whether containers can run, its disk, images and leftovers.

    `call_out`: also check, over the network, whether images can be pulled.
    """
    return iter(asyncio.run(_collected(call_out)))


async def _collected(call_out: bool) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with asyncio.timeout(ENGINE_TIMEOUT) as limit:
            async for finding in _engine(limit, call_out):
                found.append(finding)  # noqa: PERF401 - what was found before the limit is kept
    except TimeoutError:
        where = os.environ.get("DOCKER_HOST", "its socket")
        said = f"nothing answers at {where} within {ENGINE_TIMEOUT:g} s"
        advice = "Restart the engine (`systemctl restart docker`, or Docker Desktop), or set DOCKER_HOST."
        found.append(Finding("container engine", said, "problem", CONTAINER_USES_TEXT, advice))
    return found


async def _engine(limit: asyncio.Timeout, call_out: bool) -> AsyncIterator[Finding]:
    from benchwright.sandbox.docker import EngineUnavailable, connect

    try:
        async with connect() as found:
            yield await _version(found)
            yield _disk(found)
            yield await _images(found)
            yield await _leftovers(found)
            if call_out:
                limit.reschedule(asyncio.get_running_loop().time() + PULL_SECONDS)
                yield await _pulling(found)
    except EngineUnavailable as error:
        said, _, advice = str(error).partition(". ")
        state: FindingState = "missing" if error.kind == "missing" else "problem"
        yield Finding("container engine", said, state, CONTAINER_USES_TEXT, advice or None)


async def _version(engine: Engine) -> Finding:
    about, told = engine.information, await engine.client.version()
    said = (
        f"{told.get('Version')} at {engine.address or 'the docker context'}, {about.get('Driver')}, "
        f"cgroup {about.get('CgroupVersion', '?')}, {about.get('NCPU')} processors, "
        f"{(about.get('MemTotal') or 0) / BYTES_PER_GIB:.1f} GiB"
    )
    subject = "container engine"
    if _numbers(told.get("ApiVersion", "")) < MIN_API_VERSION:
        return Finding(
            subject, f"{said}: too old", "problem", CONTAINER_USES_TEXT, "Install Docker 20.10 or newer."
        )
    unbounded = [word for name, word in RESOURCE_BY_DOCKER_FIELD.items() if not about.get(name)]
    if unbounded:
        advice = "Let Docker run as root, or rootless with cgroup 2 and its controllers delegated."
        said += f": it cannot limit {', '.join(unbounded)}"
        return Finding(subject, said, "problem", CONTAINER_USES_TEXT, advice)
    return Finding(subject, said)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _disk(engine: Engine) -> Finding:
    subject, free = "disk for images", engine.free_bytes()
    if free is None:
        return Finding(subject, "unknown: the engine has its own file system")
    said = f"{free / BYTES_PER_GIB:.1f} GiB free in {engine.information['DockerRootDir']}"
    if free >= LOW_DISK_BYTES:
        return Finding(subject, said)
    advice = (
        "Make room: `docker system df` shows what can go; docs/benchmarks.md says what each benchmark needs."
    )
    return Finding(subject, said, "problem" if free < BYTES_PER_GIB else "ok", CONTAINER_USES_TEXT, advice)


async def _images(engine: Engine) -> Finding:
    sizes: dict[str, list[int]] = {name: [] for name in IMAGE_PREFIXES}
    for image in await engine.client.images.list():
        tags: list[str] = image.get("RepoTags") or []
        for name, beginning in IMAGE_PREFIXES.items():
            if any(tag.startswith(beginning) for tag in tags):
                sizes[name].append(image["Size"])
    said = [
        f"{name}: {len(found):,} ({sum(found) / BYTES_PER_GIB:.1f} GiB)" if found else f"{name}: none"
        for name, found in sizes.items()
    ]
    return Finding("images", ", ".join(said))


async def _leftovers(engine: Engine) -> Finding:
    from benchwright.sandbox.docker.cleanup import find_leftovers

    left = await find_leftovers(engine)
    if not left:
        return Finding("left behind", "no container of a run that was killed")
    said = f"{count_with_noun(len(left), 'container')} of runs that were killed"
    return Finding("left behind", said, what_to_do="Nothing: the next run that uses containers removes them.")


async def _pulling(engine: Engine) -> Finding:
    from benchwright.sandbox.docker import EngineError, ImageProvider
    from benchwright.sandbox.docker.images import image_configuration, remove_image

    subject = "pulling images"
    was_there = await image_configuration(engine, TEST_IMAGE) is not None
    try:
        await ImageProvider(engine).provide(TEST_IMAGE)
    except (EngineError, TimeoutError) as error:
        advice = "Let the engine reach the internet, or a mirror or proxy in its own settings (daemon.json)."
        said = str(error) or f"not done within {PULL_SECONDS:g} s"
        return Finding(subject, said, "missing", "images that are not here yet", advice)
    if was_there:
        return Finding(subject, f"not tried: {TEST_IMAGE} is here already")
    await remove_image(engine, TEST_IMAGE)
    return Finding(subject, f"{TEST_IMAGE} was pulled, and removed again")
