"""Ends the processes of a program from inside its container. If that fails, ends the whole container."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from benchwright.sandbox.docker.containers import Container
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors

KILL_TIMEOUT = 5.0
"""Time limit in seconds for ending processes from inside the container."""

_TIME = "read -r up rest </proc/uptime; echo $up"

_END_ALL_SINCE = """
since=$1
kill_round() {
    found=
    for folder in /proc/[0-9]*; do
        process=${folder#/proc/}
        [ "$process" = 1 ] || [ "$process" = $$ ] && continue
        read -r line <"$folder/stat" || continue
        set -- ${line##*) }
        [ "${20:-$since}" -lt "$since" ] || [ "$1" = Z ] && continue
        kill -9 "$process" && found=1
    done 2>/dev/null
    [ -n "$found" ]
}
round=0
while kill_round; do
    round=$((round + 1))
    [ $round -lt 20 ] || { kill -9 -1; break; }
done
echo ended
"""
"""Shell script that kills all processes started at or after $1, in hundredths of a second of /proc/uptime.

The start time (proc(5), field 22 of stat) is the only property that a process cannot change for itself. If
new processes start faster than they are killed, all processes except process 1 are killed.
"""

_ROUNDING = 0.02
"""Maximum difference in seconds between /proc/uptime, which counts hundredths, and the clock itself."""

_MEMORY_KILLS = """
for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] && while read -r name count; do
        [ "$name" = oom_kill ] && echo "$count"
    done <"$file"
done
"""


async def _clock_of(container: Container, moment: float) -> float:
    """Convert a time of time.monotonic() to the container's clock (/proc/uptime), never to a later time.

    The result is exact if the container has this machine's clock. Otherwise it is too early, by at most the
    time that the container took to answer.

    Raises:
        ValueError: If the container does not report its uptime.
        EngineError: If the engine does not answer.
    """
    asked = _seconds_up()
    up = float(await _run(container, ["sh", "-c", _TIME]))
    now = _seconds_up()
    is_ours = asked is not None and now is not None and asked - _ROUNDING <= up <= now + _ROUNDING
    return (now if is_ours and now is not None else up) - (time.monotonic() - moment)


def _seconds_up() -> float | None:
    """Return the seconds since this machine was started, as in /proc/uptime (proc(5)). Return None if unknown."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return None if clock is None else time.clock_gettime(clock)


async def kill_processes_since(container: Container, began: float) -> None:
    """Kill the processes started in a container since the time `began` (time.monotonic()).

    If that fails, kill the container.

    Raises:
        EngineError: If the engine does not answer.
    """
    try:
        since = int(await _clock_of(container, began) * 100)
        if await _run(container, ["sh", "-c", _END_ALL_SINCE, "sh", str(since)]) == b"ended\n":
            return
    except ValueError:
        pass
    await container.kill("a program in it could not be ended otherwise")


async def count_memory_kills(container: Container) -> int | None:
    """Return how many processes in a container the kernel has killed for lack of memory. Return None if unknown."""
    said = await _run(container, ["sh", "-c", _MEMORY_KILLS])
    return int(said) if said.strip().isdigit() else None


async def _run(container: Container, argv: Sequence[str]) -> bytes:
    """Run a short program in a container, and return the line that the program writes.

    Return b"" if the program fails or takes too long. The program's end is not awaited, because the engine
    reports the end late while another program keeps its output open.
    """
    said = b""
    try:
        async with asyncio.timeout(KILL_TIMEOUT):
            with convert_engine_errors("ending a program in a container"):
                program = await container.handle.exec(argv, stderr=False, user="0")
                async with program.start(detach=False) as stream:
                    while b"\n" not in said and (message := await stream.read_out()) is not None:
                        said += message.data
    except (EngineError, TimeoutError):
        return b""
    return said
