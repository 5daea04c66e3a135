"""Builds images from a folder with a Dockerfile. It runs `docker build`, with BuildKit and .dockerignore."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
from asyncio.subprocess import PIPE, STDOUT, Process
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from benchwright.orphans import ORPHANS
from benchwright.records import Record
from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.containers import GiB
from benchwright.sandbox.docker.dockerfile import content_digest, with_label
from benchwright.sandbox.docker.engine import Engine, check_disk_space
from benchwright.sandbox.docker.errors import EngineError, engine_error
from benchwright.sandbox.docker.images import image_configuration, remove_image, tagged_image_names
from benchwright.sandbox.output import HeadAndTail
from benchwright.text import Say, last_line

BUILD_SECONDS = 1800.0
MAX_KEPT_OUTPUT_BYTES = 32 * 1024
NEEDED_DISK_BYTES = 1 * GiB
CANCEL_TIMEOUT = 10.0
"""Seconds within which the `docker` program must end a build after the build was cancelled."""


class BuildRecipe(Record, frozen=True):
    """How an image is built from a folder.

    `dockerfile`: the path of the Dockerfile. `arguments`: a mapping from the names of the Dockerfile's ARGs
    to their values. `target`: the stage to build; "" for the last stage.
    """

    dockerfile: str = "Dockerfile"
    arguments: Mapping[str, str] = {}
    target: str = ""


async def build_image(
    engine: Engine,
    name: str,
    context: Path,
    version: str,
    say: Say = lambda said: None,
    seconds: float = BUILD_SECONDS,
    recipe: BuildRecipe = BuildRecipe(),  # noqa: B008  # frozen
) -> str:
    """Build the image `name` from a folder with a Dockerfile, unless the image exists. Return its full tag.

    The tag is a digest of version, recipe and the folder's content, so any change causes a rebuild. After a
    build, images with the same name and another tag are removed. If several processes want the same image, it
    is built once. Cancelling ends the build. `say`: receives progress messages. `seconds`: the time limit.

    Raises:
        EngineError: If the image cannot be built. `log` is the end of the build's output.
    """
    image = await image_tag(name, context, version, recipe)
    async with _alone(name, say):
        if await image_configuration(engine, image) is None:
            check_disk_space(engine, NEEDED_DISK_BYTES)
            await _build(engine, name, image, context, say, seconds, recipe)
            for tag in await tagged_image_names(engine, name):
                if tag != image:
                    await remove_image(engine, tag)
    return image


async def image_tag(name: str, context: Path, version: str, recipe: BuildRecipe) -> str:
    """Return the full tag (`name:digest`) of the image built from this folder, version and recipe."""
    made_as = version if recipe == BuildRecipe() else f"{version} {recipe}"
    return f"{name}:{await asyncio.to_thread(content_digest, context, made_as)}"


def image_build_lock(name: str) -> FileLock:
    """Return the lock for images of this name. Every process of this user holds it while it builds such an image."""
    import platformdirs

    folder = platformdirs.user_cache_path("benchwright") / "builds"
    folder.mkdir(parents=True, exist_ok=True)
    return FileLock(folder / f"{hashlib.sha256(name.encode()).hexdigest()[:32]}.lock", thread_local=False)


@asynccontextmanager
async def _alone(name: str, say: Say) -> AsyncIterator[None]:
    lock = image_build_lock(name)
    while True:
        try:
            lock.acquire(timeout=0)
            break
        except Timeout:
            say("another process builds it; waiting")
            await asyncio.sleep(0.5)
    try:
        yield
    finally:
        lock.release()


async def _build(
    engine: Engine, name: str, image: str, context: Path, say: Say, seconds: float, recipe: BuildRecipe
) -> None:
    program = shutil.which("docker")
    if program is None:
        raise EngineError(
            "building an image needs the program `docker` (Debian and Ubuntu: docker.io or docker-cli)"
        )
    environment = engine.address.docker_environment()
    dockerfile = await asyncio.to_thread(_read_dockerfile, context / recipe.dockerfile)
    if await _has_buildkit(program, environment):
        environment["DOCKER_BUILDKIT"] = "1"
    else:
        environment["DOCKER_BUILDKIT"] = "0"
        dockerfile = with_label(dockerfile, ownership.BUILT_FOR_LABEL, name)
    label = f"{ownership.BUILT_FOR_LABEL}={name}"
    given = [f"--build-arg={key}={value}" for key, value in recipe.arguments.items()]
    given += [f"--target={recipe.target}"] if recipe.target else []
    arguments = ["build", "--file", "-", "--tag", image, "--label", label, "--force-rm", *given, str(context)]
    kept = HeadAndTail(MAX_KEPT_OUTPUT_BYTES)
    process = await asyncio.create_subprocess_exec(
        program, *arguments, stdin=PIPE, stdout=PIPE, stderr=STDOUT, env=environment, start_new_session=True
    )
    try:
        with ORPHANS.registered_program(process.pid):
            async with asyncio.timeout(seconds):
                await asyncio.gather(_feed(process, dockerfile), _follow(process, kept, say))
                exit_code = await process.wait()
    except TimeoutError:
        raise EngineError(f"building {image} took longer than {seconds:g} s", log=_text(kept)) from None
    finally:
        await asyncio.shield(_end(process))
    if exit_code != 0:
        raise _failure(image, _text(kept))


def _read_dockerfile(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EngineError(f"no {path.name} to build in {path.parent} ({error.strerror})") from None


async def _has_buildkit(program: str, environment: dict[str, str]) -> bool:
    if environment.get("DOCKER_BUILDKIT") == "0":
        return False
    asking = await asyncio.create_subprocess_exec(
        program, "buildx", "version", stdout=PIPE, stderr=STDOUT, env=environment
    )
    await asking.communicate()
    return asking.returncode == 0


async def _feed(process: Process, dockerfile: bytes) -> None:
    assert process.stdin is not None
    try:
        process.stdin.write(dockerfile)
        await process.stdin.drain()
    except OSError:
        pass  # the build has ended, and its output has the reason
    process.stdin.close()


async def _follow(process: Process, kept: HeadAndTail, say: Say) -> None:
    assert process.stdout is not None
    while piece := await process.stdout.read(2**16):
        kept.feed(piece)
        if said := last_line(piece.decode("utf-8", "replace"), 200):
            say(said)


async def _end(process: Process) -> None:
    """Send the build program the signal of Ctrl-C, so that the engine ends the build, too."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.returncode is not None:
            return
        os.killpg(process.pid, number)
        try:
            await asyncio.wait_for(process.wait(), CANCEL_TIMEOUT)
        except TimeoutError:
            pass


def _text(kept: HeadAndTail) -> str:
    return kept.content().decode("utf-8", "replace")


def _failure(image: str, log: str) -> EngineError:
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    error = engine_error(f"building {image}", 0, lines[-1] if lines else "it says nothing")
    return EngineError(str(error), error.kind, log)


MAX_CONCURRENT_BUILDS = 2


class ImageBuilder:
    """Builds an engine's images for several callers. At most `at_once` builds are in progress at the same time."""

    def __init__(self, engine: Engine, at_once: int = MAX_CONCURRENT_BUILDS) -> None:
        self._engine = engine
        self._places = asyncio.Semaphore(at_once)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def build_image(
        self, name: str, context: Path, version: str, recipe: BuildRecipe, seconds: float, say: Say
    ) -> str:
        """Return the image of a folder. Build it if it does not exist; see `building.build_image`.

        Wait while `at_once` builds are in progress.

        Raises:
            EngineError: If the image cannot be built.
        """
        image = await image_tag(name, context, version, recipe)
        if await image_configuration(self._engine, image) is not None:
            return image
        async with self._locks[name], self._places:
            return await build_image(self._engine, name, context, version, say, seconds, recipe)
