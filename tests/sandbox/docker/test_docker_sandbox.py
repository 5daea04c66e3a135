"""Sandboxes in containers: programs run in them, shut off from everything, and end at their limits."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from tests.sandbox.docker.stand_ins import IMAGE, docker
from tests.sandbox.hostile_kit import alive_with, gone_within, unmistakable_seconds

from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import (
    DockerSandbox,
    DockerSandboxes,
    Engine,
    ExecResult,
    Resources,
    SandboxSpec,
)
from benchwright.sandbox.docker.containers import MiB

SMALL = Resources(memory_bytes=128 * MiB, processes=32, disk_bytes=16 * MiB)
SPEC = SandboxSpec(IMAGE, directory="/task", resources=SMALL)


async def run(sandbox: DockerSandbox, script: str, seconds: float = 20, **how: Any) -> ExecResult:
    return await sandbox.run(["sh", "-c", script], seconds=seconds, **how)


async def test_a_program_runs_with_its_files_input_and_environment(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        await sandbox.write_files(
            {"/task/a/main.sh": b"cat; echo $NAME; pwd; cat b\n", "/task/a/b": b"and b\n"}
        )
        ended = await sandbox.run(
            ["./main.sh"], seconds=10, stdin=b"given\n", cwd="/task/a", environment={"NAME": "value"}
        )
    assert (ended.reason, ended.exit_code, ended.stderr) == ("exited", 0, b"")
    assert ended.stdout == b"given\nvalue\n/task/a\nand b\n"
    assert ended.succeeded


async def test_the_exit_code_and_stderr_are_told(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, "echo no >&2; exit 7")
    assert (ended.reason, ended.exit_code, ended.stdout, ended.stderr) == ("exited", 7, b"", b"no\n")


async def test_files_and_background_programs_stay_from_one_program_to_the_next(
    sandboxes: DockerSandboxes,
) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        await run(sandbox, "echo kept > file; (sleep 1; echo written later > later) &")
        first = await sandbox.read_file("/task/file")
        await run(sandbox, "sleep 1.5")
        second = await sandbox.read_file("/task/later")
    assert (first, second) == (b"kept\n", b"written later\n")


async def test_files_of_any_bytes_come_back_as_they_were(sandboxes: DockerSandboxes) -> None:
    content = bytes(range(256)) * 8192
    async with sandboxes.start(SPEC) as sandbox:
        await sandbox.write_files({"/task/bytes": content})
        assert await sandbox.read_file("/task/bytes") == content
        with pytest.raises(ExecutionError, match="larger than 1,000 bytes"):
            await sandbox.read_file("/task/bytes", most=1000)
        with pytest.raises(ExecutionError, match=r"/task/none cannot be read.*No such file"):
            await sandbox.read_file("/task/none")


async def test_files_come_and_go_without_any_program_of_the_container(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SandboxSpec(IMAGE, read_only=False, resources=SMALL)) as sandbox:
        await run(sandbox, "rm -f /bin/tar /bin/head /bin/cat /bin/mkdir; ln -s /a/file /link; mkdir /folder")
        await sandbox.write_files({"/a/file": b"written"})
        assert await sandbox.read_file("/a/file") == await sandbox.read_file("/link") == b"written"
        with pytest.raises(ExecutionError, match="/folder cannot be read from the sandbox: it is not a file"):
            await sandbox.read_file("/folder")


async def test_a_volume_of_the_image_keeps_its_content_and_is_bounded(sandboxes: DockerSandboxes) -> None:
    tag = "benchwright-stand-in/filled-volume:1"
    docker(
        "build",
        "--tag",
        tag,
        "-",
        stdin=f"FROM {IMAGE}\nRUN mkdir /data && echo kept > /data/x\nVOLUME /data\n".encode(),
    )
    async with sandboxes.start(SandboxSpec(tag, read_only=False, resources=SMALL)) as sandbox:
        assert await sandbox.read_file("/data/x") == b"kept\n"
        script = "n=0; while :; do n=$((n+1)); dd if=/dev/zero of=/data/$n bs=1M count=8; sleep 0.1; done 2>/dev/null"
        ended = await run(sandbox, script, seconds=30)
    assert (ended.reason, ended.container_ended) == ("disk", True)


@pytest.mark.parametrize("path", ["relative", "/a/../../b"])
async def test_files_need_a_plain_absolute_path(sandboxes: DockerSandboxes, path: str) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        with pytest.raises(ExecutionError, match="plain absolute path"):
            await sandbox.write_files({path: b""})


async def test_there_is_no_network_and_no_capability_but_one(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        links = await run(sandbox, "ls /sys/class/net")
        rights = await run(sandbox, "grep -E 'CapEff|NoNewPrivs' /proc/self/status")
    assert links.stdout.split() == [b"lo"]
    assert rights.stdout.split() == [b"CapEff:", b"0000000000000020", b"NoNewPrivs:", b"1"]  # CAP_KILL


@pytest.mark.parametrize("address", ["127.0.0.1", "[::1]", "localhost"])
async def test_without_a_network_a_server_is_reached_on_the_loopback(
    sandboxes: DockerSandboxes, address: str
) -> None:
    serve = f"echo served > index.html; httpd -p 8000; wget -q -O - http://{address}:8000/index.html"
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, serve)
    assert (ended.stdout, ended.stderr) == (b"served\n", b"")


async def test_the_image_cannot_be_written_to(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, "echo x > /bin/x")
    assert b"Read-only file system" in ended.stderr


async def test_a_program_ends_at_its_limit_with_all_it_started(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, f"setsid sleep {seconds} & sleep {seconds}", seconds=1)
        assert ended.reason == "timeout"
        assert 1 <= ended.seconds < 4
        assert await gone_within(seconds, 0.5)
        assert (await run(sandbox, "echo still here")).stdout == b"still here\n"


async def test_ignoring_sigterm_does_not_help(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    script = f"trap '' TERM HUP INT; while :; do sleep {seconds}; done"
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, script, seconds=1)
        assert ended.reason == "timeout"
        assert ended.seconds < 5
        assert await gone_within(seconds, 0.5)


async def test_what_ran_before_outlives_the_end_of_a_later_program(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    async with sandboxes.start(SPEC) as sandbox:
        await run(sandbox, f"sleep {seconds} </dev/null >/dev/null 2>&1 &")
        await asyncio.sleep(0.1)
        assert (await run(sandbox, "sleep 60", seconds=0.5)).reason == "timeout"
        assert len(alive_with(seconds)) == 1
    assert await gone_within(seconds, 1)


async def test_without_a_timeout_program_in_the_image_the_limit_holds_too(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SandboxSpec(IMAGE, read_only=False, resources=SMALL)) as sandbox:
        await run(sandbox, "rm /bin/timeout")
        ended = await run(sandbox, "sleep 100", seconds=0.5)
        assert ended.reason == "timeout"
        assert ended.seconds < 8
        assert (await run(sandbox, "echo on")).succeeded


async def test_endless_output_ends_the_program(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        began = time.monotonic()
        ended = await run(sandbox, "echo first; yes", output_bytes=2 * MiB, kept_bytes=1000)
        assert ended.reason == "output"
        assert time.monotonic() - began < 5
        assert ended.stdout.startswith(b"first\n")
        assert len(ended.stdout) < 1100
        assert ended.stdout_omitted_bytes > MiB
        assert b"yes" not in (await run(sandbox, "ps -o comm")).stdout


async def test_a_hog_of_memory_is_told_as_that(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        ended = await run(sandbox, "dd if=/dev/zero of=/dev/null bs=300M count=1")
        assert (ended.reason, ended.exit_code) == ("memory", 137)
        killed = await run(sandbox, "kill -9 $$")
        assert (killed.reason, killed.exit_code) == ("exited", 137)


async def test_a_fork_bomb_stays_small_and_ends(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    bomb = f"bomb() {{ while :; do (sleep {seconds} & bomb) & sleep {seconds} & done; }}; (bomb &) & sleep {seconds}"
    async with sandboxes.start(SPEC) as sandbox:
        running = asyncio.ensure_future(run(sandbox, bomb, seconds=2))
        await asyncio.sleep(1.5)
        assert 10 < len(alive_with(seconds)) <= SMALL.processes
        ended = await running
        assert ended.reason == "timeout"
        assert await gone_within(seconds, 0.5)


async def test_as_many_processes_as_may_be_do_not_keep_a_limit_from_holding(
    sandboxes: DockerSandboxes,
) -> None:
    seconds = unmistakable_seconds()
    async with sandboxes.start(SPEC) as sandbox:
        crowd = f"(while :; do setsid sleep {seconds} & done) 2>/dev/null & sleep {seconds}"
        ended = await run(sandbox, crowd, seconds=1)
        assert ended.reason == "timeout"
        assert await gone_within(seconds, 0.5)
        if ended.container_ended:  # on a machine too busy to kill faster than the crowd grows
            with pytest.raises(ExecutionError, match="ended: a program in it could not be ended otherwise"):
                await run(sandbox, "true")
        else:
            assert (await run(sandbox, "true")).succeeded


async def test_without_its_shell_a_sandbox_ends_whole(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    async with sandboxes.start(SandboxSpec(IMAGE, read_only=False, resources=SMALL)) as sandbox:
        script = f"setsid sleep {seconds} & rm /bin/sh; sleep {seconds}"
        ended = await run(sandbox, script, seconds=1)
        assert (ended.reason, ended.exit_code, ended.container_ended) == ("timeout", None, True)
        assert await gone_within(seconds, 0.5)
        with pytest.raises(ExecutionError, match="ended: a program in it could not be ended otherwise"):
            await run(sandbox, "true")


async def test_scratch_space_is_bounded(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        script = "for n in 1 2 3; do dd if=/dev/zero of=/task/$n bs=1M count=10; done; du -sm /task"
        ended = await run(sandbox, script)
    assert b"No space left on device" in ended.stderr
    assert int(ended.stdout.split()[0]) <= 17


async def test_a_filler_of_the_disk_is_ended(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SandboxSpec(IMAGE, read_only=False, resources=SMALL)) as sandbox:
        script = "n=0; while :; do n=$((n+1)); dd if=/dev/zero of=/big$n bs=1M count=8; sleep 0.1; done 2>/dev/null"
        ended = await run(sandbox, script, seconds=30)
        assert (ended.reason, ended.exit_code, ended.container_ended) == ("disk", None, True)
        assert ended.detail == "it wrote more than 16 MiB"
        assert (await run(sandbox, "true")).reason == "disk"


async def test_no_file_is_larger_than_the_disk_limit(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SandboxSpec(IMAGE, read_only=False, resources=SMALL)) as sandbox:
        ended = await run(sandbox, "dd if=/dev/zero of=/big bs=1M count=100; stat -c %s /big")
    assert int(ended.stdout) <= SMALL.disk_bytes


async def test_a_container_killed_under_us_is_an_error(sandboxes: DockerSandboxes) -> None:
    async with sandboxes.start(SPEC) as sandbox:
        running = asyncio.ensure_future(run(sandbox, "echo begun; sleep 60", seconds=60))
        await asyncio.sleep(0.5)
        docker("kill", sandbox.container.name)
        with pytest.raises(ExecutionError, match="the container has ended: it was removed from outside"):
            await running
        docker("rm", sandbox.container.name)
        with pytest.raises(ExecutionError, match="the container has ended: it was removed from outside"):
            await run(sandbox, "true")


async def test_cancelling_ends_the_program(sandboxes: DockerSandboxes) -> None:
    seconds = unmistakable_seconds()
    async with sandboxes.start(SPEC) as sandbox:
        running = asyncio.ensure_future(run(sandbox, f"sleep {seconds}"))
        await asyncio.sleep(0.5)
        assert alive_with(seconds)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert await gone_within(seconds, 0.5)


async def test_cancelling_at_any_moment_leaves_no_container(sandboxes: DockerSandboxes) -> None:
    """The fixture `run_id` looks for what is left."""

    async def use() -> None:
        async with sandboxes.start(SPEC):
            await asyncio.sleep(60)

    for moment in range(8):
        using = asyncio.ensure_future(use())
        await asyncio.sleep(moment * 0.06)
        using.cancel()
        with pytest.raises(asyncio.CancelledError):
            await using


async def test_no_more_run_at_once_than_asked_for(engine: Engine, run_id: str) -> None:
    sandboxes = DockerSandboxes(engine, run_id, at_once=2)
    running = most = 0
    two_run = asyncio.Barrier(2)

    async def use() -> None:
        nonlocal running, most
        async with sandboxes.start(SPEC) as sandbox:
            running += 1
            most = max(most, running)
            async with asyncio.timeout(60):
                await two_run.wait()
            await run(sandbox, "true")
            running -= 1

    async with asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(use())
    assert most == 2


async def test_an_image_without_a_shell_is_refused_in_one_line(sandboxes: DockerSandboxes) -> None:
    docker("build", "--tag", "benchwright-stand-in/empty:1", "-", stdin=b'FROM scratch\nCMD ["x"]\n')
    with pytest.raises(ExecutionError, match=r"starting a container of benchwright-stand-in/empty:1: .*sh"):
        async with sandboxes.start(SandboxSpec("benchwright-stand-in/empty:1")):
            pass


async def test_what_a_sandbox_costs(sandboxes: DockerSandboxes) -> None:
    """The documented bound: at most 1.5 s a sample beyond its own commands."""
    began = time.monotonic()
    async with sandboxes.start(SPEC) as sandbox:
        await sandbox.write_files({"/task/x": b"x"})
        await run(sandbox, "true")
        await sandbox.read_file("/task/x")
    assert time.monotonic() - began < 3  # twice the bound, for a machine under load
