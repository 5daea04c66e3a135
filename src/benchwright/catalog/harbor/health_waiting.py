"""Health checks: commands that are repeated until they succeed, as in Docker's HEALTHCHECK."""

from __future__ import annotations

import asyncio
import time

from benchwright.catalog.harbor.settings import HealthCheck
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import DockerSandbox
from benchwright.text import one_line

MAX_MESSAGE_CHARACTERS = 200


async def wait_until_healthy(sandbox: DockerSandbox, health: HealthCheck) -> None:
    """Wait until the health check succeeds. Failures in its start period do not count (harbor 0.25.0).

    Raises:
        ExecutionError: If the health check failed too many times in a row. The message quotes its last
            output.
    """
    grace_ends = time.monotonic() + health.start_period
    failures = 0
    while True:
        counts = time.monotonic() >= grace_ends
        ended = await sandbox.run(["sh", "-c", health.command], seconds=health.timeout)
        if ended.reason == "exited" and ended.exit_code == 0:
            return
        failures += counts
        if failures >= health.retries:
            said = one_line((ended.stdout + ended.stderr).decode("utf-8", "replace"), MAX_MESSAGE_CHARACTERS)
            why = f"{ended.reason} {ended.exit_code}" if ended.reason == "exited" else ended.reason
            raise ExecutionError(f"the health check {health.command!r} failed: {why} {said}".rstrip())
        await asyncio.sleep(health.interval if counts else health.start_interval)
