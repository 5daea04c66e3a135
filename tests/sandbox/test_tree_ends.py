"""Whatever a program starts has ended when the sandbox returns, however it was started and however that ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest
from tests.sandbox.hostile_kit import (
    SMALL,
    alive_with,
    alive_within,
    gone_within,
    run_source,
    unmistakable_seconds,
)

from benchwright.sandbox import LocalSandbox

DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "{seconds}"])
    os._exit(0)
os.wait()
time.sleep(0.2)
print("started", flush=True)
"""


async def test_a_daemon_does_not_outlive_the_program(sandbox: LocalSandbox) -> None:
    seconds = unmistakable_seconds()
    ended = await run_source(sandbox, DAEMON.format(seconds=seconds))
    assert (ended.reason, ended.stdout) == ("exited", b"started\n")
    assert alive_with(seconds) == []


async def test_a_daemon_does_not_outlive_the_time_limit(sandbox: LocalSandbox) -> None:
    seconds = unmistakable_seconds()
    source = DAEMON.format(seconds=seconds) + "time.sleep(60)"
    ended = await run_source(sandbox, source, msgspec.structs.replace(SMALL, wall_seconds=1))
    assert (ended.reason, ended.stdout) == ("timeout", b"started\n")
    assert alive_with(seconds) == []


async def test_output_that_a_daemon_keeps_open_is_not_waited_for(sandbox: LocalSandbox) -> None:
    started = time.monotonic()
    await sandbox.run(["sh", "-c", "sleep 30 & echo done"])
    assert time.monotonic() - started < 5


async def test_cancelling_ends_the_tree(sandbox: LocalSandbox) -> None:
    seconds = unmistakable_seconds()
    running = asyncio.ensure_future(run_source(sandbox, DAEMON.format(seconds=seconds) + "time.sleep(60)"))
    assert await alive_within(seconds, 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert alive_with(seconds) == []


async def test_cancelling_at_any_moment_leaves_nothing(sandbox: LocalSandbox) -> None:
    assert sandbox.isolation_method  # found out before the clock runs
    seconds = unmistakable_seconds()
    for moment in range(12):
        running = asyncio.ensure_future(sandbox.run(["sleep", seconds]))
        await asyncio.sleep(moment * 0.008)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert alive_with(seconds) == []


async def test_killing_the_parent_gains_nothing(walled: LocalSandbox) -> None:
    """The supervisor is process 1 of its own world, which takes no signals from within."""
    seconds = unmistakable_seconds()
    source = DAEMON.format(seconds=seconds) + textwrap.dedent(
        """
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGSEGV):
            try:
                os.kill(os.getppid(), number)
            except PermissionError:
                pass
        time.sleep(0.2)
        print("alone?", flush=True)
        """
    )
    ended = await run_source(walled, source)
    assert (ended.reason, ended.exit_code, ended.stdout) == ("exited", 0, b"started\nalone?\n")
    assert alive_with(seconds) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="where all are one user, limits alone cannot prevent it")
async def test_killing_the_parent_gains_nothing_with_a_user_of_ones_own(sandbox: LocalSandbox) -> None:
    source = "import os, signal\ntry: os.kill(os.getppid(), signal.SIGKILL)\nexcept PermissionError: print('denied')"
    ended = await run_source(sandbox, source)
    assert ended.reason == "exited"
    assert ended.exit_code == 0


async def test_killing_the_parent_is_no_success(sandbox: LocalSandbox) -> None:
    started = time.monotonic()
    source = "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)"
    ended = await run_source(sandbox, source, msgspec.structs.replace(SMALL, wall_seconds=1))
    assert ended.reason in ("lost", "timeout", "exited")
    assert not ended.succeeded
    assert time.monotonic() - started < 6


async def test_killing_everything_gains_nothing(walled: LocalSandbox) -> None:
    ended = await run_source(walled, "import os; os.kill(-1, 9)")
    assert ended.stderr.splitlines()[-1] == b"ProcessLookupError: [Errno 3] No such process"


async def test_nothing_outlives_a_killed_caller(sandbox: LocalSandbox, tmp_path: Path) -> None:
    seconds = unmistakable_seconds()
    source = f"""
    import asyncio
    from benchwright.sandbox import LocalSandbox, choose_isolation_method
    sandbox = LocalSandbox(protection=choose_isolation_method({sandbox.isolation_method.name!r}))
    asyncio.run(sandbox.run(["sh", "-c", "setsid sleep {seconds} & sleep {seconds}"]))
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    caller = subprocess.Popen([sys.executable, "-c", textwrap.dedent(source)], env=environment)
    try:
        assert await alive_within(seconds, 20, processes=2)
    finally:
        caller.send_signal(signal.SIGKILL)
        caller.wait()
    assert await gone_within(seconds, 5)
    async with asyncio.timeout(5):
        while list(tmp_path.iterdir()):
            await asyncio.sleep(0.02)
