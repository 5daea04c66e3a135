"""Nothing of a pack is left behind: not after its end, not after the host's, however hard that was."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import msgspec
import pytest
from tests.packs.bridge.bridge_kit import QUICK, failure, require_node, run, running, scenario_pack

from benchwright.errors import ExecutionError

SPAWN = """
const { spawn } = require("node:child_process");
for (const detached of [false, true]) spawn("sleep", ["SECONDS"], { detached, stdio: "ignore" }).unref();
spawn("sh", ["-c", "sleep SECONDS & exec sleep SECONDS"], { detached: true, stdio: "inherit" }).unref();
"""

HOST = """
import asyncio, sys
from pathlib import Path
from tests.packs.bridge.bridge_kit import running, run

async def main():
    async with running(Path({directory!r})) as pack:
        await run(pack, "spawns")
        waiting = asyncio.ensure_future(run(pack, {then!r}, seconds=None))
        await asyncio.sleep(0.2)
        print("up", flush=True)
        await waiting

asyncio.run(main())
"""


def unmistakable() -> str:
    """A time to sleep that no other process on the machine was started with."""
    return f"{secrets.randbelow(10**6) + 1000}.{secrets.randbelow(10**9):09d}"


def alive_with(part: str) -> list[int]:
    """All processes of the machine with this in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if part.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def gone_within(part: str, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive_with(part):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture
def seconds() -> str:
    return unmistakable()


async def test_children_end_with_the_pack_in_whatever_session_they_are(seconds: str, tmp_path: Path) -> None:
    body = SPAWN.replace("SECONDS", seconds) + "return passed(input);"
    async with running(scenario_pack(tmp_path / "pack", spawns=body)) as pack:
        await run(pack, "spawns")
        assert len(alive_with(seconds)) >= 3
    assert alive_with(seconds) == []


async def test_children_end_with_a_process_that_ends_by_itself(seconds: str, tmp_path: Path) -> None:
    body = SPAWN.replace("SECONDS", seconds) + "process.exit(0);"
    async with running(scenario_pack(tmp_path / "pack", exits=body)) as pack:
        assert "process.exit(0)" in await failure(pack, "exits")
        assert alive_with(seconds) == []


async def test_a_pack_that_cannot_be_stopped_politely_is_stopped(tmp_path: Path) -> None:
    more = "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {});"
    directory = scenario_pack(tmp_path / "pack", more, loops="for (;;);")
    async with running(directory, limits=msgspec.structs.replace(QUICK, dispose_seconds=0.2)) as pack:
        looping = asyncio.ensure_future(run(pack, "loops", seconds=None))
        await asyncio.sleep(0.2)
        (keeper,) = descendants(os.getpid(), "process_supervisor.start()")
        (node,) = descendants(keeper)
    assert not is_alive(node)
    with pytest.raises(ExecutionError, match="the pack was closed"):
        await looping


@pytest.mark.parametrize("then", ["loops", "waits"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_the_host_is_killed(
    then: str, number: signal.Signals, seconds: str, tmp_path: Path
) -> None:
    require_node()
    spawn = SPAWN.replace("SECONDS", seconds) + "return passed(input);"
    directory = scenario_pack(
        tmp_path / "pack", spawns=spawn, loops="for (;;);", waits="return new Promise(() => {});"
    )
    host = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOST.format(directory=str(directory), then=then))],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    try:
        assert host.stdout is not None
        assert host.stdout.readline() == b"up\n"
        family = descendants(host.pid)
        assert len(family) >= 5, "keeper, Node and those that it started"
        host.send_signal(number)
        host.wait(10)
        deadline = time.monotonic() + 5
        while any(is_alive(pid) for pid in family) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [pid for pid in family if is_alive(pid)] == []
        assert gone_within(seconds, 1)
    finally:
        host.kill()
        host.wait()
        assert host.stdout is not None
        host.stdout.close()


def descendants(pid: int, part: str = "") -> list[int]:
    """All processes below this one, or those with this in their command line."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    wanted = part.encode()
    return [child for child in found if wanted in Path(f"/proc/{child}/cmdline").read_bytes()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
