"""What the tests of runs in containers share: an engine of their own, a small benchmark, and a model for it.

The engine is a second one beside the machine's, so that it can be stopped and everything in it be counted. It has a
place and a network namespace of its own: an engine that is told to have no bridge removes that of the other one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program, scores, trials
from tests.sandbox.docker.stand_ins import IMAGE, make_busybox

from benchwright.records import Status

START_SECONDS = 60.0
ALONE = ("--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false", "--shutdown-timeout=1")

BOXES = f'''
"""Tasks in containers: the file /answer must say `right` in the end."""
from collections.abc import Iterator
from benchwright.catalog.benchmark import About
from benchwright.catalog.containers import AgentLimits, BashSession, ContainerBenchmark, run_shell_agent
from benchwright.catalog.grading import GradeScorer, Verdict
from benchwright.data.dataset_spec import Dataset
from benchwright.records import Outcome, Sample
from benchwright.sandbox.docker import Resources, SandboxSpec
from benchwright.sandbox.docker.containers import MiB

SPEC = SandboxSpec(
    "{IMAGE}", read_only=False, resources=Resources(memory_bytes=128 * MiB, processes=64, disk_bytes=16 * MiB)
)


class Solver:
    def __init__(self, containers) -> None:
        self.containers = containers

    async def solve(self, trial, session) -> Outcome:
        async with self.containers.sandboxes.start(SPEC) as sandbox:
            messages = [{{"role": "user", "content": trial.sample.content["task"]}}]
            worked = await run_shell_agent(session, BashSession(sandbox), messages, AgentLimits(4, 2.0))
            said = "" if worked.container_ended else (await BashSession(sandbox).run("cat /answer", 10)).output
            return Outcome(worked.status, worked.messages, said.strip(), worked.reason)


def grade(content, answer) -> Verdict:
    return Verdict(float(answer == "right"))


def samples(source) -> Iterator[Sample]:
    for name in (source.root / "tasks.txt").read_text().split("\\n"):
        yield Sample(name, {{"task": name}})


boxes = ContainerBenchmark(
    about=About(
        name="boxes", title="Boxes", description="Tasks in containers.", tier=4, items=1, licence="none",
        protocol="An agent.", source="none", dataset=Dataset("boxes", {{}}), needs=("containers",),
    ),
    samples=samples,
    solver=Solver,
    scorers=[GradeScorer("answer", "1", grade)],
    checks=lambda sample: iter(()),
    max_containers=2,
)
'''


class OwnEngine:
    """A `dockerd` that nobody else uses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"unix://{folder}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        places = [f"--data-root={self._folder}/data", f"--exec-root={self._folder}/exec"]
        command = [
            "unshare",
            "--net",
            "dockerd",
            f"--host={self.address}",
            *places,
            f"--pidfile={self._folder}/pid",
            *ALONE,
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(["docker", "info"], env=self.environment, capture_output=True).returncode:
            assert time.monotonic() < deadline, (self._folder / "log").read_text(errors="replace")[-1000:]
            time.sleep(0.1)

    def stop(self) -> None:
        """Stops it as its service would, which ends its containers too."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "DOCKER_HOST": self.address}

    def docker(self, *arguments: str) -> list[str]:
        """The lines that the `docker` program prints."""
        ended = subprocess.run(
            ["docker", *arguments], env=self.environment, capture_output=True, check=True, text=True
        )
        return ended.stdout.splitlines()

    def running(self) -> list[str]:
        """The names of all containers that run."""
        return self.docker("ps", "--format", "{{.Names}}")

    def left(self) -> dict[str, list[str]]:
        """What is in it besides the image and the networks that every engine has."""
        return {
            kind: found
            for kind, found in {
                "containers": self.docker("ps", "--all", "--quiet"),
                "networks": self.docker("network", "ls", "--quiet", "--filter", "type=custom"),
                "volumes": self.docker("volume", "ls", "--quiet"),
                "images": self.docker("images", "--quiet", "--filter", "dangling=true"),
            }.items()
            if found
        }


@contextmanager
def own_engine(folder: Path) -> Iterator[OwnEngine]:
    """An engine of the test's own with the stand-in image, stopped in the end."""
    if os.geteuid() != 0 or shutil.which("dockerd") is None or shutil.which("docker") is None:
        pytest.skip(
            "an engine of its own needs root and dockerd (Debian and Ubuntu: apt-get install docker.io)"
        )
    engine = OwnEngine(folder)
    engine.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DOCKER_HOST", engine.address)
            make_busybox()
        yield engine
    finally:
        engine.stop()
        _unmount_below(folder)


def _unmount_below(folder: Path) -> None:
    """What a stopped engine left mounted; pytest could not remove the folder otherwise, and would say so for ever."""
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    mounted = [place for place in (line.split()[1] for line in lines) if Path(place).is_relative_to(folder)]
    for place in reversed(mounted):
        subprocess.run(["umount", "--lazy", place], check=True)


class Boxes:
    """The program, running the benchmark `boxes` with these tasks on an engine."""

    def __init__(self, program: Program, engine: str, base_url: str, tasks: Sequence[str]) -> None:
        self.program = program
        program.environment["DOCKER_HOST"] = engine
        program.write("boxes.py", BOXES)
        (program.directory / "data").mkdir(exist_ok=True)
        program.write("data/tasks.txt", "\n".join(tasks))
        self.command = ["run", "boxes", "--plugin", "boxes.py", "--model", "m", "--base-url", base_url]

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs them to their end."""
        return self.program.run(*self.command, *options)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Starts running them."""
        return self.program.start(*self.command, *options)

    def statuses(self) -> dict[str, Status]:
        """How each task ended last."""
        return {trial.sample: trial.status for trial in trials(self.program.only_run)}

    def scores(self) -> dict[str, float | None]:
        """What each task scored."""
        tasks = {trial.key: trial.sample for trial in trials(self.program.only_run)}
        return {tasks[score.trial]: score.value for score in scores(self.program.only_run)}


def playing(task: str, *commands: str) -> dict[str, Any]:
    """A script of a model that gives these commands, one per turn, and then says that it is done."""
    replies = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": f"call_{number}",
                    "type": "function",
                    "function": {"name": "bash", "arguments": json.dumps({"command": command})},
                }
            ],
        }
        for number, command in enumerate(commands)
    ]
    return {"prompt": task, "replies": [*replies, {"role": "assistant", "content": "Done."}]}
