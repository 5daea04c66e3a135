"""Starts a verifier in a container: image, container, health check."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Literal

from benchwright.packs.verifiers.states import check_health
from benchwright.packs.verifiers.verifier_location import (
    PackVerifiers,
    VerifierLocation,
    image_name,
    kept_container_name,
)
from benchwright.records import Record
from benchwright.sandbox.docker import (
    DockerService,
    Engine,
    ImageProvider,
    ServiceSpec,
    build_image,
    find_kept_services,
    start_service,
)

StartPhase = Literal[
    "checking_docker", "building_image", "pulling_image", "starting_container", "waiting_for_healthcheck"
]


class VerifierProgress(Record, frozen=True):
    """A step in the preparation of a verifier. It is reported as the protocol's event `verifier_preparing`."""

    verifier_id: str
    phase: StartPhase
    message: str


ProgressCallback = Callable[[VerifierProgress], None]


class VerifierStartOptions(Record, frozen=True):
    """Settings for starting the verifiers of a run.

    `keep_running`: True if the verifiers keep running after the run. Then verifiers whose `auto_start` is off
    are started, too. `health_seconds`: the time in which a verifier must become healthy.
    """

    run_id: str
    keep_running: bool = False
    health_seconds: float = 60.0


async def start_verifier(
    engine: Engine,
    pack: PackVerifiers,
    choice: VerifierLocation,
    start: VerifierStartOptions,
    report: ProgressCallback,
    stack: AsyncExitStack,
) -> DockerService:
    """Return a running, healthy verifier: one with the same image that an earlier run kept, or a new one.

    A new verifier is ended when the exit stack `stack` is closed, unless the verifiers of this run are to be
    kept.

    Raises:
        EngineError: If the verifier cannot be built, pulled or started, or does not become healthy in time.
    """

    def say(phase: StartPhase, message: str) -> None:
        report(VerifierProgress(choice.id, phase, message))

    image = await _image(engine, pack, choice, say)
    if (kept := await _kept(engine, pack, choice, image, replace=start.keep_running)) is not None:
        return kept
    name = kept_container_name(pack.id, choice.id) if start.keep_running else None
    say("starting_container", f"Starting a container of {image}.")
    async with AsyncExitStack() as until_healthy:
        service = await until_healthy.enter_async_context(
            start_service(engine, ServiceSpec(image, choice.port), start.run_id, name)
        )
        say("waiting_for_healthcheck", f"Waiting until {service.url}{choice.health_path or ''} is healthy.")
        await service.wait_until_healthy(
            lambda url: _why_not(url, choice.health_path),
            start.health_seconds,
            lambda said: say("waiting_for_healthcheck", said),
        )
        service.stays = start.keep_running
        stack.push_async_exit(until_healthy.pop_all())
    return service


async def _image(
    engine: Engine, pack: PackVerifiers, choice: VerifierLocation, say: Callable[[StartPhase, str], None]
) -> str:
    if choice.build_context is None:
        say("pulling_image", f"Looking for the image {choice.image}.")
        await ImageProvider(engine).provide(choice.image, lambda said: say("pulling_image", said))
        return choice.image
    say("building_image", f"Building the image of {choice.id}, unless it exists.")
    name = image_name(pack.id, choice.id)
    return await build_image(
        engine, name, choice.build_context, pack.version, lambda said: say("building_image", said)
    )


async def _kept(
    engine: Engine, pack: PackVerifiers, choice: VerifierLocation, image: str, *, replace: bool
) -> DockerService | None:
    """Return a healthy verifier with this image that an earlier run kept. Return None if there is none.

    `replace`: True to remove kept containers that are not healthy or have another image.
    """
    for service in await find_kept_services(engine, kept_container_name(pack.id, choice.id)):
        if service.image == image and await _why_not(service.url, choice.health_path) is None:
            return service
        if replace:
            await service.container.remove()
    return None


async def _why_not(url: str, path: str | None) -> str | None:
    trouble = await check_health(url, path)
    return trouble.reason if trouble else None
