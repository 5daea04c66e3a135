"""The state of a pack's verifiers outside a run, and the removal of their kept containers and of their images."""

from __future__ import annotations

import os
from typing import NamedTuple

import msgspec

from benchwright.endpoint.address import find_proxy, parse_base_url
from benchwright.endpoint.connection import TransportError
from benchwright.endpoint.server_info import request_document
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.transport import ConnectionPool
from benchwright.errors import UserError
from benchwright.packs.types import VerifierEndpoint, VerifierStatus
from benchwright.packs.verifiers.verifier_location import (
    PackVerifiers,
    VerifierLocation,
    image_name,
    kept_container_name,
    locate_verifiers,
)
from benchwright.sandbox.docker import Engine, EngineUnavailable, connect, find_kept_services
from benchwright.sandbox.docker.images import image_configuration, remove_image, tagged_image_names


async def verifier_states(pack: PackVerifiers) -> list[VerifierEndpoint]:
    """Return the state of a pack's verifiers, without starting any.

    Raises:
        EngineError: If the engine stopped answering.
    """
    chosen = locate_verifiers(pack)
    found = {choice.id: await _without_engine(choice) for choice in chosen}
    in_docker = [
        choice for choice in chosen if choice.mode == "docker" and choice.missing_setting_advice is None
    ]
    try:
        if in_docker:
            async with connect() as engine:
                for choice in in_docker:
                    found[choice.id] = await _in_docker(engine, pack, choice)
    except EngineUnavailable as error:
        status: VerifierStatus = "missing_dependency" if error.kind == "missing" else "dependency_not_running"
        for choice in in_docker:
            found[choice.id] = msgspec.structs.replace(found[choice.id], status=status, details=str(error))
    return list(found.values())


async def stop_verifiers(pack_id: str, verifier_ids: list[str]) -> list[str]:
    """Remove the kept containers of these verifiers. Return the names of the removed containers.

    Raises:
        EngineUnavailable: If there is no engine.
        EngineError: If the engine stopped answering.
    """
    stopped = []
    async with connect() as engine:
        for verifier_id in verifier_ids:
            for service in await find_kept_services(engine, kept_container_name(pack_id, verifier_id)):
                await service.container.remove()
                stopped.append(service.container.name)
    return stopped


async def remove_images(pack_id: str, verifier_ids: list[str]) -> list[str]:
    """Remove the images built for these verifiers, except images in use. Return the names of the removed images.

    Raises:
        EngineUnavailable: If there is no engine.
        EngineError: If the engine stopped answering.
    """
    async with connect() as engine:
        tags = [
            tag for one in verifier_ids for tag in await tagged_image_names(engine, image_name(pack_id, one))
        ]
        return [tag for tag in tags if await remove_image(engine, tag)]


async def _without_engine(choice: VerifierLocation) -> VerifierEndpoint:
    endpoint = VerifierEndpoint(
        choice.id, choice.mode, choice.is_required, "failed", details=choice.missing_setting_advice
    )
    if choice.mode == "docker" or choice.url is None:
        return endpoint
    trouble = await check_health(choice.url, choice.health_path)
    status: VerifierStatus = "stopped" if trouble else "running"
    details = trouble.reason if trouble else None
    return msgspec.structs.replace(endpoint, status=status, url=choice.url, details=details)


async def _in_docker(engine: Engine, pack: PackVerifiers, choice: VerifierLocation) -> VerifierEndpoint:
    if choice.build_context is None:
        present = await image_configuration(engine, choice.image) is not None
    else:
        present = bool(await tagged_image_names(engine, choice.image))
    endpoint = VerifierEndpoint(
        choice.id, choice.mode, choice.is_required, "stopped", docker_image_present=present
    )
    for service in await find_kept_services(engine, kept_container_name(pack.id, choice.id)):
        trouble = await check_health(service.url, choice.health_path)
        status: VerifierStatus = "failed" if trouble else "running"
        details = trouble.reason if trouble else None
        endpoint = msgspec.structs.replace(
            endpoint, status=status, url=service.url, port=service.port, details=details
        )
    return endpoint


ANSWER_TIMEOUT = 5.0
"""Time limit for a verifier's answer, in seconds."""
_SILENT = ("read_timeout", "stall", "total_timeout")


class HealthProblem(NamedTuple):
    """The reason why a verifier is not healthy.

    `is_unresponsive`: True if the verifier accepted the request but did not answer in time. Then it may be
    busy.
    """

    reason: str
    is_unresponsive: bool = False


async def check_health(url: str, path: str | None) -> HealthProblem | None:
    """Return why the verifier at an address is not healthy. Return None if it is healthy.

    If there is a health path, a verifier is healthy if GET of this path returns a status from 200 to 299. If
    there is none, it is healthy if GET of the address returns any status.
    """
    try:
        address = parse_base_url(url)
        target = f"{address.path_prefix}/{(path or '').lstrip('/')}"
        if not all("!" <= character <= "~" for character in target):
            return HealthProblem(f"{path!r} is not a valid path")
        proxy = find_proxy(address, os.environ)
    except UserError as error:
        return HealthProblem(str(error))
    wire = ConnectionPool(
        address,
        connections=1,
        limits=Timeouts(ANSWER_TIMEOUT, ANSWER_TIMEOUT, ANSWER_TIMEOUT, ANSWER_TIMEOUT),
        proxy=proxy,
    )
    try:
        document = await request_document(wire, "GET", target)
    except TransportError as error:
        return HealthProblem(f"GET {url}{path or ''}: {error}", error.kind in _SILENT)
    finally:
        wire.close()
    if path is not None and not 200 <= document.status < 300:
        return HealthProblem(f"GET {url}{path} is answered with HTTP {document.status}")
    return None
