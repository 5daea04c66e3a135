"""Programs run to their end, with what they cost; and the simulated endpoint that they ask."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

LONGEST_SECONDS = 1800.0
SERVER_CPU, CLIENT_CPU = 0, 1


class Cost(NamedTuple):
    """What a program used: CPU and wall time in seconds, peak memory in MB (10^6 bytes); and its stdout."""

    cpu: float
    wall: float
    memory: float
    stdout: str


class Endpoint(NamedTuple):
    """A simulated endpoint under load: where it is, its truth log, its process."""

    base_url: str
    truth: Path
    pid: int


def pin(pid: int, cpu: int) -> None:
    """Keeps a process on one CPU, so that client and server do not take turns on the same one."""
    available = sorted(os.sched_getaffinity(0))
    if len(available) > 1:
        os.sched_setaffinity(pid, {available[cpu]})


def run(arguments: Sequence[str], environment: dict[str, str] | None = None) -> Cost:
    """Runs `python` with these arguments; its output goes to files, as neither is a terminal.

    Raises:
        RuntimeError: the program failed, or took longer than half an hour.
    """
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            preexec_fn=lambda: pin(0, CLIENT_CPU),
        )
        status, usage = _wait(child, started)
        wall = time.monotonic() - started
        output.seek(0)
        errors.seek(0)
        if status:
            raise RuntimeError(f"{arguments} ended with {status}: {errors.read().decode()[-2000:]}")
        text = output.read().decode()
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024 / 1e6, text)


def _wait(child: subprocess.Popen[bytes], started: float) -> tuple[int, resource.struct_rusage]:
    while True:
        ended, status, usage = os.wait4(child.pid, os.WNOHANG)
        if ended:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage
        if time.monotonic() - started > LONGEST_SECONDS:
            child.kill()
            raise RuntimeError(f"the program {child.args!r} took longer than {LONGEST_SECONDS:g} s")
        time.sleep(0.01)


@contextmanager
def simulated(*options: str) -> Iterator[Endpoint]:
    """A simulated endpoint in a process of its own."""
    with tempfile.TemporaryDirectory() as directory:
        port_file, truth = Path(directory, "port"), Path(directory, "truth.jsonl")
        child = subprocess.Popen(
            [
                *(sys.executable, "-m", "benchwright", "simulate", "--port", "0"),
                *("--port-file", str(port_file), "--log", str(truth), *options),
            ],
            stdout=subprocess.DEVNULL,
            preexec_fn=lambda: pin(0, SERVER_CPU),
        )
        try:
            while not port_file.exists():
                if child.poll() is not None:
                    raise RuntimeError("the simulated endpoint did not start")
                time.sleep(0.02)
            yield Endpoint(f"http://127.0.0.1:{int(port_file.read_text())}/v1", truth, child.pid)
        finally:
            child.terminate()
            child.wait()


def cpu_seconds(pid: int) -> float:
    """CPU time that a running process has used so far, to a hundredth of a second."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
