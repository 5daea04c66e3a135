"""Commands that are sent signals at a drawn instant, and what is left of them."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from time import monotonic, perf_counter_ns
from typing import NamedTuple

from hypothesis import strategies as st
from tests.app import failing_doors
from tests.app.app_kit import Program
from tests.app.eval_kit import Server, logging_server
from tests.app.test_orphans import below, wait_until_gone

from benchwright.endpoint.simulate import read_truth

ROWS = 4
ANSWER = ("--first-token=constant:60",)
AT_WORK = ["--batch-size=2"]


class Door(NamedTuple):
    """A command that takes a while: its arguments at a server, and how many trials it plans."""

    name: str
    arguments: Callable[[Program, str], list[str]]
    planned: int = ROWS

    def __str__(self) -> str:
        return self.name


def _asking(door: failing_doors.Door, *more: str) -> Callable[[Program, str], list[str]]:
    return lambda program, url: [*door(program), "--model", "m", "--base-url", url, *more]


EVAL = Door("eval", _asking(failing_doors.evaluation, *AT_WORK))
WORKERS = Door("eval --workers", _asking(failing_doors.evaluation, *AT_WORK, "--workers=2"))
BENCHMARK = Door("run", _asking(failing_doors.benchmark, *AT_WORK))
PACK = Door("pack run", _asking(failing_doors.pack))
LOAD = Door("load", _asking(failing_doors.load))
VIEW = Door("view", lambda program, url: ["view", "--port=0", "--no-open"], planned=0)

RESUMED = (BENCHMARK, PACK, EVAL, WORKERS)
"""Doors whose run the same command goes on with."""


class Instant(NamedTuple):
    """After so many answers of the server, and then so much of the command's usual time."""

    answers: int
    part: float


class Blow(NamedTuple):
    """A signal at an instant, and perhaps a second one after so many seconds more."""

    number: signal.Signals
    at: Instant
    again: tuple[signal.Signals, float] | None


POLITE = st.sampled_from([signal.SIGINT, signal.SIGTERM])
INSTANTS = st.builds(Instant, st.just(0), st.floats(0, 1.1)) | st.builds(
    Instant, st.integers(1, ROWS), st.floats(0, 0.1)
)


def blows(numbers: st.SearchStrategy[signal.Signals]) -> st.SearchStrategy[Blow]:
    """A first signal of these, alone or with a second one that is polite."""
    return st.builds(Blow, numbers, INSTANTS, st.none() | st.tuples(POLITE, st.floats(0, 0.5)))


class Ended(NamedTuple):
    """A command that was sent signals: how it ended, how long after the last one, and the processes it had started."""

    code: int
    out: str
    err: str
    seconds: float
    started: list[int]


class Laboratory:
    """A server that takes its time, and a fresh home for each command that is interrupted."""

    def __init__(self, directory: Path, server: Server, log: Path) -> None:
        self.directory = directory
        self.server = server
        self._log = log
        self._usual: dict[str, float] = {}

    @contextmanager
    def program(self) -> Iterator[Program]:
        """The program with a home of its own, removed after use."""
        program = Program(Path(mkdtemp(dir=self.directory)))
        try:
            yield program
        finally:
            program.end()
            shutil.rmtree(program.directory)

    def asked_since(self, moment: int) -> int:
        """How many requests the server has received since then (`perf_counter_ns`)."""
        self.server.asked()
        return sum(
            truth.received > moment
            for truth in read_truth(self._log)
            if truth.path.endswith("/chat/completions")
        )

    def usual_seconds(self, door: Door) -> float:
        """How long the command takes when nobody interrupts it; the viewer, until it can be opened."""
        if door.name not in self._usual:
            with self.program() as program:
                begun = monotonic()
                process = self._start(program, door)
                assert process.stdout is not None
                if door is VIEW:
                    process.stdout.readline()
                else:
                    process.communicate(timeout=60)
                self._usual[door.name] = monotonic() - begun
        return self._usual[door.name]

    def interrupted(self, program: Program, door: Door, blow: Blow) -> Ended:
        """Starts the command, sends it the signals, and waits for its end and that of all that it has started."""
        usual, before = self.usual_seconds(door), self.server.answered()
        process = self._start(program, door)
        answers = before + min(blow.at.answers, door.planned)
        while self.server.answered() < answers and process.poll() is None:
            time.sleep(0.001)
        time.sleep(blow.at.part * usual)
        started = below(process.pid)
        process.send_signal(blow.number)
        if blow.again is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(blow.again[1])
            process.send_signal(blow.again[0])
        last = monotonic()
        out, err = process.communicate(timeout=60)
        seconds = monotonic() - last
        wait_until_gone([*started, *_heirs(program)])
        return Ended(process.returncode, out, err, seconds, started)

    def _start(self, program: Program, door: Door) -> subprocess.Popen[str]:
        arguments = door.arguments(program, self.server.base_url)
        program.forked = False  # a start takes its whole time
        process = program.start(*arguments)
        program.forked = True
        return process


@contextmanager
def laboratory(directory: Path) -> Iterator[Laboratory]:
    """A laboratory in this directory."""
    log = directory / "truth.jsonl"
    with logging_server(log, *ANSWER) as server:
        yield Laboratory(directory, server, log)


def now() -> int:
    """The moment, on the server's clock."""
    return perf_counter_ns()


def _heirs(program: Program) -> list[int]:
    """All processes that have the program's home in their environment."""
    ours, found = os.fsencode(f"BENCHWRIGHT_HOME={program.home}"), []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if ours in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
    return found
