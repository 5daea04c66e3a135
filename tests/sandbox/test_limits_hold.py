"""Programs that take more than they are given: each limit ends or refuses them, whatever holds them."""

from __future__ import annotations

import asyncio
import signal
import time
from itertools import pairwise

import msgspec
import pytest
from tests.sandbox.hostile_kit import SMALL, run_source

from benchwright.errors import ExecutionError
from benchwright.sandbox import Limits, LocalSandbox

replace = msgspec.structs.replace


async def test_a_program_runs_with_its_files_and_its_input(sandbox: LocalSandbox) -> None:
    files = {"main.py": b"import sys, pkg.a; print(pkg.a.x, sys.stdin.read())", "pkg/a.py": b"x = 41"}
    ended = await sandbox.run(["python3", "main.py"], files=files, stdin=b"and more")
    assert (ended.reason, ended.exit_code, ended.stdout) == ("exited", 0, b"41 and more\n")
    assert ended.succeeded


async def test_the_exit_code_and_stderr_are_told(sandbox: LocalSandbox) -> None:
    ended = await sandbox.run(["sh", "-c", "echo no >&2; exit 7"])
    assert (ended.reason, ended.exit_code, ended.stderr) == ("exited", 7, b"no\n")
    assert not ended.succeeded


async def test_a_signal_of_its_own_is_told(sandbox: LocalSandbox) -> None:
    ended = await run_source(sandbox, "import os; os.abort()")
    assert (ended.reason, ended.exit_code, ended.signal) == ("killed", None, signal.SIGABRT)


async def test_a_hog_of_memory_gets_none(sandbox: LocalSandbox) -> None:
    ended = await run_source(sandbox, "x = bytearray(10**9)")
    assert ended.exit_code == 1
    assert b"MemoryError" in ended.stderr


async def test_memory_is_bounded_for_all_processes_together(sandbox: LocalSandbox) -> None:
    ended = await run_source(
        sandbox,
        """
        import os, time
        for _ in range(8):
            if os.fork() == 0:
                x = b"x" * (60 * 2**20)
                time.sleep(60)
        time.sleep(60)
        """,
    )
    assert ended.reason == "memory"


async def test_shared_memory_counts_too(sandbox: LocalSandbox) -> None:
    ended = await run_source(
        sandbox,
        """
        import mmap, time
        m = mmap.mmap(-1, 400 * 2**20)
        for at in range(0, len(m), 4096):
            m[at] = 1
        time.sleep(60)
        """,
    )
    assert ended.reason == "memory"


async def test_a_fork_bomb_stays_small(sandbox: LocalSandbox) -> None:
    ended = await run_source(
        sandbox,
        """
        import os, time
        started = 0
        try:
            while True:
                if os.fork() == 0:
                    time.sleep(60)
                    os._exit(0)
                started += 1
        except BlockingIOError:
            print(started)
        """,
    )
    assert ended.exit_code == 0
    assert 1 <= int(ended.stdout) <= SMALL.processes


async def test_a_fork_bomb_that_goes_on_is_ended(sandbox: LocalSandbox) -> None:
    limits = replace(SMALL, wall_seconds=0.5)
    ended = await run_source(
        sandbox,
        """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        limits,
    )
    assert ended.reason in ("timeout", "memory")
    assert ended.seconds < 3


async def test_an_endless_loop_is_out_of_processor_time(strongest: LocalSandbox) -> None:
    ended = await run_source(strongest, "while True: pass", replace(SMALL, cpu_seconds=1, wall_seconds=60))
    assert ended.reason == "cpu"


async def test_ignoring_the_end_of_processor_time_does_not_help(strongest: LocalSandbox) -> None:
    source = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
    ended = await run_source(strongest, source, replace(SMALL, cpu_seconds=1, wall_seconds=60))
    assert ended.reason == "cpu"


async def test_ignoring_every_signal_does_not_help(sandbox: LocalSandbox) -> None:
    source = """
    import signal, time
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    time.sleep(60)
    """
    ended = await run_source(sandbox, source, replace(SMALL, wall_seconds=0.5))
    assert ended.reason == "timeout"
    assert 0.5 <= ended.seconds < 2.5


async def test_endless_output_ends_the_program(sandbox: LocalSandbox) -> None:
    limits = replace(SMALL, output_bytes=2 * 2**20, kept_bytes=1000)
    ended = await sandbox.run(["sh", "-c", "echo first; yes"], limits=limits)
    assert ended.reason == "output"
    assert ended.stdout.startswith(b"first\n")
    assert len(ended.stdout) < 1100
    assert ended.stdout_omitted_bytes > 10**6


async def test_endless_errors_count_as_output(strongest: LocalSandbox) -> None:
    limits = replace(SMALL, output_bytes=2 * 2**20)
    ended = await strongest.run(["sh", "-c", "yes >&2"], limits=limits)
    assert ended.reason == "output"


async def test_of_long_output_head_and_tail_are_kept(strongest: LocalSandbox) -> None:
    limits = replace(SMALL, kept_bytes=20)
    ended = await run_source(strongest, "print('a' * 1000 + 'z' * 1000, end='')", limits)
    assert ended.reason == "exited"
    assert ended.stdout == b"a" * 10 + b"\n[... 1980 bytes left out ...]\n" + b"z" * 10


async def test_output_of_any_bytes_is_kept_as_it_is(sandbox: LocalSandbox) -> None:
    source = "import os; os.write(1, bytes(range(256)) + b'\\x1b[2J\\xff\\xfe\\x00')"
    ended = await run_source(sandbox, source)
    assert ended.stdout == bytes(range(256)) + b"\x1b[2J\xff\xfe\x00"


async def test_no_file_grows_beyond_its_limit(sandbox: LocalSandbox) -> None:
    source = """
    import os
    try:
        with open("big", "wb") as file:
            while True:
                file.write(bytes(2**16))
    except OSError as error:
        print(error.errno, os.path.getsize("big"))
    """
    ended = await run_source(sandbox, source, replace(SMALL, file_bytes=2**20))
    assert ended.stdout.split() == [b"27", b"1048576"]  # EFBIG


async def test_the_disk_cannot_be_filled(walled: LocalSandbox) -> None:
    source = """
    import itertools, os
    written = 0
    for folder in ("/tmp", "/dev/shm"):
        try:
            for number in itertools.count():
                with open(f"{folder}/{number}", "wb") as file:
                    written += file.write(bytes(2**19))
        except OSError as error:
            print(error.errno)
    print(written)
    """
    ended = await run_source(walled, source, replace(SMALL, disk_bytes=4 * 2**20))
    first, second, written = ended.stdout.split()
    assert first == second == b"28"  # ENOSPC
    assert int(written) <= 2 * 4 * 2**20


async def test_open_files_are_counted(sandbox: LocalSandbox) -> None:
    source = """
    import os
    opened = 0
    try:
        while True:
            os.open("/dev/null", os.O_RDONLY)
            opened += 1
    except OSError as error:
        print(error.errno, opened)
    """
    ended = await run_source(sandbox, source, replace(SMALL, open_files=32))
    number, opened = ended.stdout.split()
    assert number == b"24"  # EMFILE
    assert int(opened) < 32


async def test_input_is_at_its_end_where_none_is_given(sandbox: LocalSandbox) -> None:
    ended = await run_source(sandbox, "import sys; print(repr(sys.stdin.read()))")
    assert ended.stdout == b"''\n"


async def test_input_that_is_not_read_holds_nothing_up(sandbox: LocalSandbox) -> None:
    ended = await sandbox.run(["true"], stdin=bytes(2**20))
    assert ended.succeeded


async def test_eight_at_once_leave_the_event_loop_free(strongest: LocalSandbox) -> None:
    limits = Limits(wall_seconds=1, processes=16, memory_bytes=256 * 2**20)
    crowd = LocalSandbox(limits, at_once=8, protection=strongest.isolation_method)
    running = [
        asyncio.ensure_future(run_source(crowd, f"print({n}, flush=True)\nwhile True: pass", limits))
        for n in range(8)
    ]
    lags = []
    while not all(task.done() for task in running):
        asked = time.monotonic()
        await asyncio.sleep(0.01)
        lags.append(time.monotonic() - asked - 0.01)
    ended = [task.result() for task in running]
    assert [one.reason for one in ended] == ["timeout"] * 8
    assert [one.stdout for one in ended] == [b"%d\n" % n for n in range(8)]
    assert max(lags) < 0.5


async def test_no_more_run_at_once_than_asked_for(sandbox: LocalSandbox) -> None:
    one_at_a_time = LocalSandbox(at_once=1, protection=sandbox.isolation_method)
    source = "import time; print(time.monotonic()); time.sleep(0.2); print(time.monotonic())"
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_source(one_at_a_time, source)) for _ in range(3)]
    spans = sorted([float(word) for word in task.result().stdout.split()] for task in tasks)
    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", ""])
async def test_files_stay_in_the_folder(strongest: LocalSandbox, name: str) -> None:
    with pytest.raises(ExecutionError, match="no place in its folder"):
        await strongest.run(["true"], files={name: b""})


async def test_a_program_that_is_not_there_is_named(sandbox: LocalSandbox) -> None:
    with pytest.raises(ExecutionError, match="cannot start 'no-such-program' in the sandbox: No such file"):
        await sandbox.run(["no-such-program"])
