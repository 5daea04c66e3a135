"""`run_python`: passed means that control reached the end of the program, and nothing else does."""

from __future__ import annotations

import asyncio
import json
import textwrap
from pathlib import Path

import pytest

from benchwright.sandbox import LocalSandbox, PythonVerdict, run_python

CHECK = """
def check(candidate):
    assert candidate(2, 3) == 5
check(add)
"""


async def verdict(sandbox: LocalSandbox, source: str, seconds: float = 3.0) -> PythonVerdict:
    return await run_python(sandbox, textwrap.dedent(source), seconds=seconds)


async def test_a_right_program_passes(sandbox: LocalSandbox) -> None:
    found = await verdict(sandbox, "def add(a, b):\n    return a + b\n" + CHECK)
    assert (found.passed, found.reason) == (True, "passed")


async def test_a_wrong_program_fails(sandbox: LocalSandbox) -> None:
    found = await verdict(sandbox, "def add(a, b):\n    return a - b\n" + CHECK)
    assert (found.passed, found.reason) == (False, "failed: AssertionError")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 / 0", "failed: ZeroDivisionError: division by zero"),
        ("def broken(:", "failed: SyntaxError: invalid syntax (<program>, line 1)"),
        ("raise KeyboardInterrupt", "failed: KeyboardInterrupt"),
        ("raise BaseException('x')", "failed: BaseException: x"),
        ("raise SystemExit", "failed: SystemExit"),
        ("import sys; sys.exit(0)", "failed: SystemExit: 0"),
        ("exit(0)", "failed: NameError: name 'exit' is not defined"),
        ("import os; os._exit(0)", "failed: the process ended (exit code 0) before the program finished"),
        ("import os; os.kill(os.getpid(), 9)", "failed: the process was killed (signal 9)"),
        ("import os; os.abort()", "failed: the process was killed (signal 6)"),
        (
            "import os; os.execv('/bin/sh', ['sh', '-c', 'exit 3'])",
            "failed: the process ended (exit code 3) before the program finished",
        ),
        ("import ctypes; ctypes.string_at(0)", "failed: the process was killed (signal 11)"),
        ("input()", "failed: OSError: the program may not read from stdin"),
        ("import sys; sys.stdin.read()", "failed: OSError: the program may not read from stdin"),
        ("x = '\\0'\nx = [0] * 10**9", "failed: MemoryError"),
        ("def f(): f()\nf()", "failed: RecursionError: maximum recursion depth exceeded"),
    ],
)
async def test_every_other_end_is_a_failure(strongest: LocalSandbox, source: str, reason: str) -> None:
    found = await verdict(strongest, source)
    assert (found.passed, found.reason) == (False, reason)


TRICKS = {
    "a thread ends it": """
        import os, threading, time
        threading.Thread(target=lambda: os._exit(0)).start()
        time.sleep(2)
    """,
    "at exit": """
        import atexit, os, sys
        atexit.register(os._exit, 0)
        sys.exit(0)
    """,
    "an exit of its own class": """
        class Zero(SystemExit):
            code = 0
        raise Zero
    """,
    "the supervisor killed": """
        import os, signal
        os.kill(os.getppid(), signal.SIGKILL)
        os._exit(0)
    """,
    "the word printed": """
        import os
        print("passed", flush=True)
        os.write(2, b"passed")
        os._exit(0)
    """,
    "the word written everywhere": """
        import os
        for descriptor in range(3, 64):
            try:
                os.write(descriptor, b"passed")
            except OSError:
                pass
        os._exit(0)
    """,
    "guesses written everywhere": """
        import os
        for descriptor in range(3, 64):
            for guess in range(100):
                try:
                    os.write(descriptor, bytes([guess]) * 16 + b"passed")
                except OSError:
                    pass
        os._exit(0)
    """,
    "all that can be read written everywhere": """
        import os
        for source in range(3, 64):
            try:
                read = os.read(source, 16)
            except OSError:
                continue
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, read + b"passed")
                except OSError:
                    pass
        os._exit(0)
    """,
    "built-in functions replaced": """
        import builtins, sys
        builtins.exec = builtins.compile = lambda *_: None
        builtins.BaseException = KeyError
        sys.exit()
    """,
    "system calls replaced": """
        import os
        os.write = lambda descriptor, data: len(data)
        os._exit = lambda code: None
        raise ValueError
    """,
    "a hook for exceptions": """
        import os, sys
        sys.excepthook = lambda *_: os._exit(0)
        raise ValueError
    """,
    "an exit while its exception is described": """
        import os
        class Said(Exception):
            def __str__(self):
                os._exit(0)
        raise Said
    """,
    "an exception while its exception is described": """
        class Said(Exception):
            def __str__(self):
                raise SystemExit(0)
        raise Said
    """,
    "an exit while stdout is flushed": """
        import os, sys
        class Stream:
            def flush(self):
                os._exit(0)
        sys.stdout = Stream()
        raise ValueError
    """,
}


@pytest.mark.parametrize("source", TRICKS.values(), ids=TRICKS.keys())
async def test_tricks_do_not_pass(strongest: LocalSandbox, source: str) -> None:
    found = await verdict(strongest, source)
    assert not found.passed
    assert found.reason.startswith("failed: ")


async def test_the_token_is_found_in_no_frame_object_or_open_file(strongest: LocalSandbox) -> None:
    source = """
    import gc, os, sys
    decoy = [os.urandom(16)]
    found, frame = [], sys._getframe()
    while frame := frame.f_back:
        found += [*frame.f_locals.values(), *frame.f_globals.values(), *frame.f_code.co_consts]
        found += gc.get_referents(frame)
    found += gc.get_objects()
    found += gc.get_referents(*found)
    for descriptor in range(3, 64):
        try:
            found.append(os.read(descriptor, 16))
        except OSError:
            pass
    print({one for one in found if type(one) is bytes and len(one) == 16} == set(decoy))
    """
    found = await verdict(strongest, source)
    assert (found.passed, found.stdout) == (True, b"True\n")


async def test_an_endless_program_is_timed_out(sandbox: LocalSandbox) -> None:
    found = await verdict(sandbox, "while True: pass", seconds=0.5)
    assert (found.passed, found.reason) == (False, "timed out")
    assert 0.5 <= found.seconds < 2


async def test_catching_everything_does_not_stop_the_clock(strongest: LocalSandbox) -> None:
    source = """
    import signal, time
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
    """
    found = await verdict(strongest, source, seconds=0.5)
    assert found.reason == "timed out"


async def test_the_part_for_scripts_does_not_run(strongest: LocalSandbox) -> None:
    found = await verdict(
        strongest, "assert __name__ == 'builtins'\nif __name__ == '__main__': raise ValueError"
    )
    assert found.passed


async def test_what_it_prints_is_kept_apart(sandbox: LocalSandbox) -> None:
    source = "import sys; print('seen'); print('and seen', file=sys.stderr); print('\\x1b[2J')"
    found = await verdict(sandbox, source)
    assert (found.passed, found.stdout, found.stderr) == (True, b"seen\n\x1b[2J\n", b"and seen\n")


async def test_a_thread_that_goes_on_holds_nothing_up(strongest: LocalSandbox) -> None:
    found = await verdict(
        strongest, "import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"
    )
    assert found.passed
    assert found.seconds < 2


async def test_a_closed_stdout_does_not_matter(strongest: LocalSandbox) -> None:
    assert (await verdict(strongest, "import sys; sys.stdout.close()")).passed
    assert (await verdict(strongest, "import sys; sys.stdout = sys.stderr = None")).passed


async def test_programs_know_nothing_of_each_other(sandbox: LocalSandbox) -> None:
    crowd = LocalSandbox(at_once=4, protection=sandbox.isolation_method)
    source = "import os, time; assert os.listdir() == []; open('mine', 'w'); time.sleep(0.1)"
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_python(crowd, source)) for _ in range(12)]
    assert [task.result().reason for task in tasks] == ["passed"] * 12


async def test_the_whole_standard_library_is_there(sandbox: LocalSandbox) -> None:
    source = """
    import collections, datetime, decimal, fractions, functools, hashlib, heapq, itertools, json, math, random, re
    import statistics, string, typing, zoneinfo
    assert hashlib.md5(b"").hexdigest().startswith("d41d8")
    """
    found = await verdict(sandbox, source)
    assert found.reason == "passed"


async def test_real_problems_with_their_solutions_pass_and_without_them_fail(
    strongest: LocalSandbox, real_rows: Path
) -> None:
    rows = [json.loads(line) for line in (real_rows / "humaneval" / "sample.jsonl").read_text().splitlines()]
    rows = rows[::20]
    programs = [
        f"{row['prompt']}{body}\n{row['test']}\ncheck({row['entry_point']})"
        for row in rows
        for body in (row["canonical_solution"], "    return None\n")
    ]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_python(strongest, program, seconds=20)) for program in programs]
    assert [task.result().passed for task in tasks] == [True, False] * len(rows)


async def test_every_text_is_a_program_or_a_failure(strongest: LocalSandbox) -> None:
    assert (await verdict(strongest, "")).passed
    for text in ("\0", "\ud800", "x = '\ud800'", "(" * 10000, "﻿x = 1 $"):
        found = await verdict(strongest, text)
        assert not found.passed
        assert found.reason.startswith("failed: ")
