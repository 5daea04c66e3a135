"""Long-lived programs spoken to in lines."""

from __future__ import annotations

import asyncio
import textwrap
import time

import msgspec
import pytest
from tests.sandbox.hostile_kit import SMALL, alive_with, alive_within, unmistakable_seconds

from benchwright.errors import ExecutionError
from benchwright.sandbox import Limits, LocalSandbox

ECHO = """
import json, sys
for number, line in enumerate(sys.stdin):
    print(json.dumps({"number": number, "got": json.loads(line)}), flush=True)
"""


def source(text: str) -> dict[str, bytes]:
    return {"server.py": textwrap.dedent(text).encode()}


SERVER = ["python3", "server.py"]


async def test_a_server_keeps_its_state_between_lines(sandbox: LocalSandbox) -> None:
    async with sandbox.start_process(SERVER, files=source(ECHO)) as process:
        await process.send(b'"a"')
        assert await process.receive(10) == b'{"number": 0, "got": "a"}'
        await process.send(b"[1]")
        assert await process.receive(10) == b'{"number": 1, "got": [1]}'


async def test_it_and_all_it_started_end_with_the_context(sandbox: LocalSandbox) -> None:
    seconds = unmistakable_seconds()
    server = f"""
    import subprocess, time
    subprocess.Popen(["sleep", "{seconds}"], start_new_session=True)
    print("up", flush=True)
    time.sleep(600)
    """
    async with sandbox.start_process(SERVER, files=source(server)) as process:
        assert await process.receive(10) == b"up"
        assert await alive_within(seconds, 5)
    assert alive_with(seconds) == []


async def test_it_ends_with_the_context_after_an_error_too(sandbox: LocalSandbox) -> None:
    seconds = unmistakable_seconds()
    with pytest.raises(ZeroDivisionError):
        async with sandbox.start_process(["sleep", seconds]):
            raise ZeroDivisionError
    assert alive_with(seconds) == []


async def test_a_line_that_does_not_come_is_an_error(strongest: LocalSandbox) -> None:
    async with strongest.start_process(["sleep", "60"]) as process:
        with pytest.raises(ExecutionError, match=r"wrote no line within 0\.2 s"):
            await process.receive(0.2)


async def test_a_line_too_long_is_an_error(strongest: LocalSandbox) -> None:
    limits = Limits(line_bytes=10_000)
    async with strongest.start_process(
        ["sh", "-c", "head -c 1000000 /dev/zero; sleep 60"], limits=limits
    ) as process:
        with pytest.raises(ExecutionError, match="a line of more than 10000 bytes"):
            await process.receive(10)


async def test_a_server_that_ended_is_an_error_with_its_last_words(strongest: LocalSandbox) -> None:
    server = source("import sys; sys.exit('no such class: Car')")
    async with strongest.start_process(SERVER, files=server) as process:
        with pytest.raises(ExecutionError, match="has ended: no such class: Car"):
            await process.receive(10)


async def test_sending_to_a_server_that_ended_is_an_error(strongest: LocalSandbox) -> None:
    async with strongest.start_process(["true"]) as process:
        with pytest.raises(ExecutionError, match="has ended"):
            await process.receive(10)
        with pytest.raises(ExecutionError, match="has ended"):
            await process.send(bytes(2**20))


async def test_a_program_that_is_not_there_is_an_error_by_name(sandbox: LocalSandbox) -> None:
    with pytest.raises(ExecutionError, match="cannot start 'no-such-server' in the sandbox: No such file"):
        async with sandbox.start_process(["no-such-server"]):
            pass


async def test_its_whole_life_is_bounded(sandbox: LocalSandbox) -> None:
    limits = msgspec.structs.replace(SMALL, wall_seconds=0.5)
    async with sandbox.start_process(["sleep", "60"], limits=limits) as process:
        with pytest.raises(ExecutionError, match="has ended"):
            await process.receive(10)


async def test_a_flood_of_errors_ends_it(strongest: LocalSandbox) -> None:
    limits = msgspec.structs.replace(SMALL, output_bytes=2**20, kept_bytes=1000)
    async with strongest.start_process(["sh", "-c", "yes >&2"], limits=limits) as process:
        with pytest.raises(ExecutionError, match="has ended"):
            await process.receive(10)
        assert len(process.stderr) < 1100


async def test_a_flood_of_lines_waits_to_be_read(sandbox: LocalSandbox) -> None:
    limits = msgspec.structs.replace(SMALL, line_bytes=1000)
    async with sandbox.start_process(["sh", "-c", "yes"], limits=limits) as process:
        await asyncio.sleep(0.3)
        assert await process.receive(10) == b"y"


async def test_open_processes_do_not_keep_programs_from_running(strongest: LocalSandbox) -> None:
    one = LocalSandbox(at_once=1, protection=strongest.isolation_method)
    async with one.start_process(SERVER, files=source(ECHO)), one.start_process(SERVER, files=source(ECHO)):
        started = time.monotonic()
        assert (await one.run(["true"])).succeeded
        assert time.monotonic() - started < 10


async def test_a_busy_process_takes_the_place_of_a_program(strongest: LocalSandbox) -> None:
    one = LocalSandbox(at_once=1, protection=strongest.isolation_method)
    async with one.start_process(SERVER, files=source(ECHO), busy=True):
        waiting = asyncio.ensure_future(one.run(["true"]))
        await asyncio.sleep(0.5)
        assert not waiting.done()
    assert (await waiting).succeeded
