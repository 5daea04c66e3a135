"""The verifiers of a pack's run: prepared before the first request, checked during the run, and then ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from benchwright.errors import ExecutionError, UserError
from benchwright.packs.types import VerifierEndpoint, VerifierStatus
from benchwright.packs.verifiers.starting import (
    ProgressCallback,
    VerifierProgress,
    VerifierStartOptions,
    start_verifier,
)
from benchwright.packs.verifiers.states import HealthProblem, check_health
from benchwright.packs.verifiers.verifier_location import (
    PackVerifiers,
    VerifierLocation,
    kept_container_name,
    locate_verifiers,
)
from benchwright.sandbox.docker import (
    DockerService,
    Engine,
    EngineError,
    EngineUnavailable,
    connect,
    find_kept_services,
    remove_leftovers,
)

CHECK_SECONDS = 1.0
"""Maximum age, in seconds, of the last check of all verifiers. If it is older, `check` checks them again."""
RECHECK_DELAY = 0.5
"""Seconds after which a verifier that did not answer is checked a second time."""


class StartedVerifiers:
    """The verifiers of a run, created by `running_verifiers`.

    `gateway`: the address at which the verifiers' containers reach this machine; None if no verifier is a
    container. `logs`: a mapping from the id of a failed verifier to its last output.
    """

    def __init__(self, pack: PackVerifiers) -> None:
        self._pack = pack
        self._found: dict[str, VerifierEndpoint] = {}
        self._services: dict[str, DockerService] = {}
        self._choices = {choice.id: choice for choice in locate_verifiers(pack)}
        self._looked_at = time.monotonic()
        self.gateway: str | None = None
        self.logs: dict[str, str] = {}

    @property
    def endpoints(self) -> Sequence[VerifierEndpoint]:
        """The verifiers in the form in which the pack receives them, with their last known state."""
        return list(self._found.values())

    @property
    def problems(self) -> list[str]:
        """One line for each required verifier that is not running, with the reason and what to do."""
        return [
            f"The verifier {endpoint.id!r} of {self._pack.id} is not running: {endpoint.details}"
            for endpoint in self.endpoints
            if endpoint.required and endpoint.status != "running"
        ]

    def require_running(self) -> None:
        """Raise if a required verifier is not running. Called before the first request to a model.

        Without the verifier, the model's answers could not be checked, and the requests would be wasted.

        Raises:
            UserError: If a required verifier is not running.
        """
        if self.problems:
            raise UserError(" ".join(self.problems))

    async def check(self) -> None:
        """Check the verifiers. Do nothing if they were checked within the last `CHECK_SECONDS`.

        Raises:
            ExecutionError: If a required verifier is not running.
        """
        if time.monotonic() - self._looked_at > CHECK_SECONDS:
            await self.recheck()
        if self.problems:
            raise ExecutionError(" ".join(self.problems))

    async def recheck(self) -> list[str]:
        """Check all verifiers now, and return `problems`.

        Called when a cell failed, because a dead verifier must not count against the model. A verifier that
        accepts a request but does not answer in time is busy, not dead.
        """
        self._looked_at = time.monotonic()
        for endpoint in self.endpoints:
            if endpoint.url is None:
                continue
            why = await self._gone(endpoint)
            gone: VerifierStatus = "failed" if endpoint.mode == "docker" else "stopped"
            status = gone if why else "running"
            self._found[endpoint.id] = msgspec.structs.replace(endpoint, status=status, details=why)
        return self.problems

    async def _gone(self, endpoint: VerifierEndpoint) -> str | None:
        trouble = await self._asked(endpoint)
        if trouble is not None and not trouble.is_unresponsive:
            await asyncio.sleep(RECHECK_DELAY)
            trouble = await self._asked(endpoint)
        if trouble is None or trouble.is_unresponsive:
            return None
        service = self._services.get(endpoint.id)
        try:
            return (service and await service.failure_reason()) or trouble.reason
        except EngineError as error:
            return str(error)

    async def _asked(self, endpoint: VerifierEndpoint) -> HealthProblem | None:
        assert endpoint.url is not None
        return await check_health(endpoint.url, self._choices[endpoint.id].health_path)

    async def prepare(
        self, stack: AsyncExitStack, start: VerifierStartOptions, report: ProgressCallback
    ) -> None:
        """Prepare all verifiers concurrently.

        If the preparation of a verifier fails, no error is raised. The verifier's endpoint states the reason.
        """
        engine: Engine | EngineError | EngineUnavailable | None = None
        in_docker = [choice for choice in self._choices.values() if _needs_engine(choice)]
        if in_docker:
            report(VerifierProgress(in_docker[0].id, "checking_docker", "Looking for Docker."))
            try:
                engine = await self._engine(stack)
            except (EngineError, EngineUnavailable) as error:
                engine = error
        async with asyncio.TaskGroup() as group:
            making = [
                group.create_task(self._ready(choice, engine, start, report, stack))
                for choice in self._choices.values()
            ]
        self._found = {endpoint.id: endpoint for endpoint in (task.result() for task in making)}

    async def _ready(
        self,
        choice: VerifierLocation,
        engine: Engine | EngineError | EngineUnavailable | None,
        start: VerifierStartOptions,
        report: ProgressCallback,
        stack: AsyncExitStack,
    ) -> VerifierEndpoint:
        """Prepare one verifier and return its endpoint. If the preparation fails, the endpoint states the reason."""
        service = None
        try:
            if _needs_engine(choice):
                if isinstance(engine, Exception):
                    raise engine
                assert engine is not None
                service = await self._docker(engine, choice, start, report, stack)
            if service is not None:
                self._services[choice.id] = service
            return await _endpoint(choice, service)
        except EngineUnavailable as error:
            missing: VerifierStatus = (
                "missing_dependency" if error.kind == "missing" else "dependency_not_running"
            )
            return _failed(choice, missing, str(error))
        except EngineError as error:
            self.logs[choice.id] = error.log
            return _failed(choice, "failed", str(error))

    async def _engine(self, stack: AsyncExitStack) -> Engine:
        engine = await stack.enter_async_context(connect())
        await remove_leftovers(engine)
        self.gateway = await engine.host_listen_address()
        return engine

    async def _docker(
        self,
        engine: Engine,
        choice: VerifierLocation,
        start: VerifierStartOptions,
        report: ProgressCallback,
        stack: AsyncExitStack,
    ) -> DockerService | None:
        if choice.auto_start or start.keep_running:
            return await start_verifier(engine, self._pack, choice, start, report, stack)
        kept = await find_kept_services(engine, kept_container_name(self._pack.id, choice.id))
        return kept[0] if kept else None


@asynccontextmanager
async def running_verifiers(
    pack: PackVerifiers, start: VerifierStartOptions, report: ProgressCallback = lambda preparing: None
) -> AsyncIterator[StartedVerifiers]:
    """Start as many verifiers of a pack as possible. On exit, end the verifiers that were started.

    If a verifier cannot be started, no error is raised here; see `StartedVerifiers.require_running`.
    Cancelling also ends a build in progress.
    """
    async with AsyncExitStack() as stack:
        verifiers = StartedVerifiers(pack)
        await verifiers.prepare(stack, start, report)
        yield verifiers


def _needs_engine(choice: VerifierLocation) -> bool:
    return choice.mode == "docker" and choice.missing_setting_advice is None


async def _endpoint(choice: VerifierLocation, service: DockerService | None) -> VerifierEndpoint:
    if choice.missing_setting_advice is not None:
        return _failed(choice, "failed", choice.missing_setting_advice)
    if choice.mode == "docker":
        if service is None:
            return _failed(
                choice, "stopped", "it is not started automatically: benchwright pack verifiers PACK start"
            )
        return VerifierEndpoint(
            choice.id,
            choice.mode,
            choice.is_required,
            "running",
            service.url,
            service.port,
            docker_image_present=True,
        )
    assert choice.url is not None
    trouble = await check_health(choice.url, choice.health_path)
    if trouble is not None:
        return _failed(choice, "stopped", f"{trouble.reason}. Start it, or correct its address.", choice.url)
    return VerifierEndpoint(choice.id, choice.mode, choice.is_required, "running", choice.url)


def _failed(
    choice: VerifierLocation, status: VerifierStatus, why: str, url: str | None = None
) -> VerifierEndpoint:
    return VerifierEndpoint(choice.id, choice.mode, choice.is_required, status, url, details=why)
