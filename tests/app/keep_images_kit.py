"""A benchmark whose tasks have images of their own, from a registry on the loopback; nobody is asked."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

from tests.app.app_kit import NOWHERE, Program
from tests.sandbox.docker.registry import Registry, here

CRATES = '''
"""Each line of tasks.txt is a task: its name, its family and its image."""
import subprocess
from collections.abc import Iterator
from pathlib import Path
from benchwright.catalog.benchmark import About
from benchwright.catalog.containers import ContainerBenchmark
from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.grading import GradeScorer, Verdict
from benchwright.data.dataset_spec import Dataset
from benchwright.errors import ExecutionError
from benchwright.records import Outcome, Sample
from benchwright.sandbox.docker import SandboxSpec


class Solver:
    def __init__(self, containers) -> None:
        self.containers = containers

    async def solve(self, trial, session) -> Outcome:
        content = trial.sample.content
        if Path(f"fail-{trial.sample.id}").exists():
            raise ExecutionError("told to fail")
        async with self.containers.sandboxes.start(SandboxSpec(content["image"])) as sandbox:
            await sandbox.run(["true"], seconds=30)
            listed = ["docker", "images", "--format", "{{.Repository}}:{{.Tag}}"]
            there = subprocess.run(listed, capture_output=True, text=True).stdout.split()
            registry = content["image"].partition("/")[0]
            with open("seen.txt", "a") as file:
                file.write(f"{trial.sample.id} {sum(one.startswith(registry) for one in there)}\\n")
        return Outcome(answer="right")


def samples(source) -> Iterator[Sample]:
    for line in (source.root / "tasks.txt").read_text().splitlines():
        name, family, image = line.split()
        yield Sample(name, {"image": image, "name": name}, labels={"family": family})


crates = ContainerBenchmark(
    about=About(
        name="crates", title="Crates", description="Tasks with images.", tier=4, items=1, licence="none",
        protocol="Nobody.", source="none", dataset=Dataset("crates", {}), needs=("containers",),
    ),
    samples=samples,
    solver=Solver,
    scorers=[GradeScorer("answer", "1", lambda content, answer: Verdict(1.0))],
    checks=lambda sample: iter(()),
    max_containers=2,
    images_of=lambda sample: TaskImages((sample.content["image"],), sample.labels["family"]),
    image_gib=IMAGE_GIB,
)
'''


class Crates:
    """The program, running tasks `a0`, `b0`, `a1`, `b1`, … of two families, which the data has in turn."""

    def __init__(
        self, program: Program, registry: Registry, each: int = 3, image_gib: float | None = None
    ) -> None:
        self.program = program
        self.registry = registry
        program.write("crates.py", CRATES.replace("IMAGE_GIB", repr(image_gib)))
        (program.directory / "data").mkdir(exist_ok=True)
        self.tasks = [f"{family}{number}" for number in range(each) for family in "ab"]
        self.images = {task: registry.image(task, task[0]) for task in self.tasks}
        lines = (f"{task} {task[0]} {image}\n" for task, image in self.images.items())
        program.write("data/tasks.txt", "".join(lines))

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Runs the tasks, one at a time."""
        command = (
            "run",
            "crates",
            "--plugin",
            "crates.py",
            "--model",
            "m",
            "--base-url",
            NOWHERE,
            "--no-probe",
        )
        return self.program.run(*command, "--concurrency", "1", *options)

    @property
    def seen(self) -> Iterator[tuple[str, int]]:
        """The tasks in the order in which they were tried, and how many images of the registry were here then."""
        for line in (self.program.directory / "seen.txt").read_text().splitlines():
            task, count = line.split()
            yield task, int(count)

    def here(self) -> set[str]:
        """The tasks whose images are here."""
        return {image.partition("/")[2].partition(":")[0] for image in here(self.registry)}


def listed(program: Program) -> list[dict[str, object]]:
    """What `benchwright images --json` lists."""
    images: list[dict[str, object]] = json.loads(program.run("images", "--json").stdout)["images"]
    return images
