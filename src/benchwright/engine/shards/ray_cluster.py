"""Connections to Ray: to a cluster at an address, or to a Ray that is started on this machine for the run.

A failed start is reported in one line. A start that hangs is abandoned.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from benchwright.errors import UserError
from benchwright.optional_libraries import importing

MAX_CONNECT_SECONDS = 10.0
MAX_START_SECONDS = 120.0
"""Maximum number of seconds that Ray may take to start on this machine, or to accept a connection at an
address. 10 s are usual.
"""

MAX_START_TRIES = 2
"""Maximum number of tries to start Ray.

A node gives up if its helper processes take over 15 s, as on a cold or busy machine.
"""

MAX_SHUTDOWN_SECONDS = 20.0
EXCLUDED_FILES = [".env", ".git"]
"""Files in the working directory that are not copied to the cluster's nodes."""


@asynccontextmanager
async def connect_ray(count: int | None, address: str | None) -> AsyncIterator[Any]:
    """Connect to Ray and yield the `ray` module.

    If Ray is started here, it has room for at least `count` actors.

    Raises:
        UserError: If Ray is not installed or does not start, or no cluster answers at the address.
    """
    with importing("ray", "--executor ray needs", "ray"):
        import ray
    if address is not None:
        await _reach(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    logging.getLogger("ray").setLevel(logging.ERROR)
    with redirect_stdout(sys.stderr):  # Ray's remarks about lost actors must not mix with our results
        connection = await _begun(ray, _options(count, address), address)
        try:
            yield ray
        finally:
            await connection.end()


async def _reach(address: str) -> None:
    """Check that something listens at HOST:PORT, because Ray itself would keep trying for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        async with asyncio.timeout(MAX_CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no answer within {MAX_CONNECT_SECONDS:g} s"
        raise UserError(f"Ray cannot be used at {address}: {reason}") from None
    writer.close()


def _options(count: int | None, address: str | None) -> dict[str, Any]:
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if address is None:
        cpus = max(count or 0, os.cpu_count() or 1)
        return {"address": "local", "num_cpus": cpus, "include_dashboard": False, **quiet}
    travelling = {"working_dir": str(Path.cwd()), "excludes": EXCLUDED_FILES}
    return {"address": address, "runtime_env": travelling, **quiet}


async def _begun(ray: Any, options: dict[str, Any], address: str | None) -> _Connection:
    starts = MAX_START_TRIES if address is None else 1
    try:
        async with asyncio.timeout(MAX_START_SECONDS):
            for left in reversed(range(starts)):
                connection = _Connection(ray, options)
                try:
                    await connection.begun
                    return connection
                except Exception as error:  # Ray raises many types, plain `Exception` included
                    if not left:
                        raise UserError(_unusable(address, first_error_line(error))) from None
    except TimeoutError:
        pass
    raise UserError(_unusable(address, f"it is not ready after {MAX_START_SECONDS:g} s"))


def _unusable(address: str | None, reason: str) -> str:
    if address is not None:
        return (
            f"Ray cannot be used at {address}: {reason.rstrip('.')}. "
            "Where the cluster asks for a token, set RAY_AUTH_MODE=token."
        )
    return (
        f"Ray does not start on this machine: {reason.rstrip('.')}. Its own logs are in "
        "/tmp/ray/session_latest/logs. Use --workers instead, or `ray start --head` and --ray-address."
    )


class _Connection:
    """A connection to Ray that is opened and closed in a separate thread.

    The processes that Ray starts end with the thread that started them. A thread that hangs is not waited for.
    """

    def __init__(self, ray: Any, options: dict[str, Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self.begun: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._leave = threading.Event()
        threading.Thread(target=self._live, args=(ray, options), daemon=True).start()

    async def end(self) -> None:
        """Disconnect from the cluster. If Ray was started on this machine, it ends."""
        self._leave.set()
        await asyncio.wait([self._ended], timeout=MAX_SHUTDOWN_SECONDS)

    def _live(self, ray: Any, options: dict[str, Any]) -> None:
        try:
            ray.init(**options)
        except Exception as error:  # raised in the code that awaits the start
            self._tell(self.begun, error)
            return
        self._tell(self.begun)
        self._leave.wait()
        ray.shutdown()
        self._tell(self._ended)

    def _tell(self, whom: asyncio.Future[None], error: Exception | None = None) -> None:
        def tell() -> None:
            if whom.done():
                return
            if error is None:
                whom.set_result(None)
            else:
                whom.set_exception(error)

        try:
            self._loop.call_soon_threadsafe(tell)
        except RuntimeError:
            pass  # the loop is closed: nobody awaits this any more


def first_error_line(error: Exception) -> str:
    """Return the first line of an error's text, without Ray's account of where the error arose."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
