"""Ways to make a process of ours stand still, as Ctrl-Z, a frozen container or a suspended machine do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from tests.app.app_kit import Program, trials

PATIENCE = 40.0
"""Seconds that a run on a busy machine may take to get so far."""

FREEZERS = {
    "freezer/{}": ("freezer.state", "THAWED", "FROZEN"),
    "unified/{}": ("cgroup.freeze", "0", "1"),
    "{}": ("cgroup.freeze", "0", "1"),
}
"""Where control groups are below /sys/fs/cgroup (versions 1 and 2), and the file that freezes one."""


def until_done(program: Program, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until the only run of a program has so many trials in its journal."""
    end = time.monotonic() + PATIENCE
    while not (program.runs and len(trials(program.only_run)) >= count):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "the run does not get on"
        time.sleep(0.02)


def stop_for(seconds: float, *processes: int) -> None:
    """Stop processes as Ctrl-Z does, but without asking them, and let them go on."""
    for one in processes:
        os.kill(one, signal.SIGSTOP)
    time.sleep(seconds)
    for one in processes:
        os.kill(one, signal.SIGCONT)


def children_of(process: int) -> list[int]:
    """Return the processes that a process has started and that are still there."""
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def workers_of(process: int) -> list[int]:
    """Return the worker processes among them (`--workers`)."""
    command = b"benchwright.engine.shards.process"
    return [one for one in children_of(process) if command in Path(f"/proc/{one}/cmdline").read_bytes()]


class Freezer:
    """A control group of the tests' own, which is frozen as `docker pause` does it.

    Raises:
        OSError: If there is no freezer that this user may use.
    """

    def __init__(self) -> None:
        for place, (self._file, self._thawed, self._frozen) in FREEZERS.items():
            self._group = Path("/sys/fs/cgroup", place.format(f"benchwright-tests-{os.getpid()}"))
            with suppress(OSError):
                self._group.mkdir()
                if (self._group / self._file).exists():
                    return
                self._group.rmdir()
        raise OSError("no control group can be made and frozen here")

    def freeze_for(self, seconds: float, process: int) -> None:
        """Freeze a process with all that it has started, and let it go on."""
        for one in [process, *children_of(process)]:
            (self._group / "cgroup.procs").write_text(str(one))
        (self._group / self._file).write_text(self._frozen)
        try:
            time.sleep(seconds)
        finally:
            (self._group / self._file).write_text(self._thawed)

    def end(self) -> None:
        """Remove the group, whose processes have ended."""
        self._group.rmdir()


def with_other_clocks(program: Program, code: str) -> dict[str, str]:
    """Return the environment of commands whose Python runs this code first, in which clocks may be replaced."""
    (program.directory / "clocks").mkdir()
    (program.directory / "clocks" / "sitecustomize.py").write_text(code)
    path = [str(program.directory / "clocks"), *filter(None, [program.environment.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(path)}
