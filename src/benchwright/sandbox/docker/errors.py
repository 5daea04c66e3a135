"""Errors of the container engine. Each message is one line that states what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from benchwright.errors import ExecutionError, UserError
from benchwright.sandbox.docker.address import EngineAddress
from benchwright.text import one_line

UnavailableKind = Literal[
    "missing", "not_running", "no_permission", "image_missing", "rate_limited", "disk_full", "failed"
]

ADVICE_BY_KIND: dict[UnavailableKind, str] = {
    "missing": "Docker is not installed: there is no engine at {where}. Install it (Debian and Ubuntu: "
    "`apt-get install docker.io`; elsewhere Docker Desktop, OrbStack or Colima), or set DOCKER_HOST.",
    "not_running": "Docker is not running: nothing answers at {where}. Start it (`systemctl start docker`, "
    "or Docker Desktop), or set DOCKER_HOST.",
    "no_permission": "You have no access to Docker: {where} refuses this user. Add yourself to the group "
    "(`sudo usermod -aG docker $USER`, then log in again).",
}

_NO_CONNECTION = 900
"""Status in aiodocker's errors for requests that did not reach an engine."""


class EngineUnavailable(UserError):
    """Raised if no container engine can be used.

    `kind`: missing (the engine or its client library), not_running or no_permission.
    """

    def __init__(self, kind: UnavailableKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def unavailable_error(kind: UnavailableKind, where: EngineAddress) -> EngineUnavailable:
    """Return the error for an engine that cannot be used at an address."""
    return EngineUnavailable(kind, ADVICE_BY_KIND[kind].format(where=where))


class EngineError(ExecutionError):
    """Raised if an engine operation failed or was refused.

    `log`: the last output of the build or container concerned.
    """

    def __init__(self, message: str, kind: UnavailableKind = "failed", log: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.log = log


@contextmanager
def convert_engine_errors(doing: str) -> Iterator[None]:
    """Convert errors of the client library into an EngineError. `doing`: a phrase that names the operation.

    Raises:
        EngineError: In place of errors of the library, of connections, and of exceeded time limits.
    """
    import aiodocker
    import aiohttp

    try:
        yield
    except aiodocker.DockerError as error:
        raise engine_error(doing, error.status, error.message) from None
    except (aiohttp.ClientError, OSError) as error:
        raise engine_error(doing, _NO_CONNECTION, str(error) or type(error).__name__) from None


def engine_error(doing: str, status: int, message: str) -> EngineError:
    """Return the error to raise for an error response of the engine. HTTP status and message determine its class."""
    said = one_line(message, 1000)
    if status == _NO_CONNECTION:
        return EngineError(f"Docker does not answer any more ({doing}): {said}", "not_running")
    if "no space left on device" in said.lower():
        return EngineError(
            f"the disk of Docker is full ({doing}); `docker system df` shows what holds it", "disk_full"
        )
    if is_rate_limit_error(status, said):
        return EngineError(
            f"{doing}: the registry allows no more pulls for now. Run `docker login`, which raises its limit, or "
            f"resume later. It said: {said}",
            "rate_limited",
        )
    if is_missing_image_error(status, said):
        return EngineError(
            f"{doing}: the image is not there and cannot be pulled. Check its name; a private one needs "
            f"`docker login`. Docker said: {said}",
            "image_missing",
        )
    return EngineError(f"{doing}: {said}")


def is_rate_limit_error(status: int, said: str) -> bool:
    """Return True if the response means that a registry refuses a pull because there were too many pulls."""
    words = said.lower()
    return status == 429 or any(
        part in words for part in ("toomanyrequests", "too many requests", "pull rate limit")
    )


def is_missing_image_error(status: int, said: str) -> bool:
    """Return True if the response means that the image exists neither on this machine nor in its registry."""
    words = said.lower()
    if status == 404 and "no such image" in words:
        return True
    return any(
        part in words for part in ("manifest unknown", "pull access denied", "repository does not exist")
    )
