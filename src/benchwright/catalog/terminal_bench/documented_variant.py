"""terminal_bench as llm-benchmarker documents it: tasks with a setup, a validation and a solution script.

The scripts run in ubuntu:22.04, without a network.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from benchwright.catalog.asking import assistant, user
from benchwright.catalog.benchmark import GOLD, About, Benchmark, Check, Options
from benchwright.catalog.containers import BashSession, CommandRecord, ContainerBenchmark, Containers
from benchwright.catalog.containers.benchmark import DEFAULT_MAX_CONTAINERS
from benchwright.catalog.containers.command_messages import format_observation
from benchwright.catalog.grading import Verdict, verdict_score
from benchwright.catalog.harbor.environment import CAPABILITIES
from benchwright.data.datasets import Source
from benchwright.endpoint.reply import Reply
from benchwright.engine.answers import answer_status
from benchwright.engine.protocols import Score, Session, Solver
from benchwright.errors import ExecutionError
from benchwright.records import Message, Outcome, Record, Sample, Status, Trial
from benchwright.runs.keys import fingerprint
from benchwright.sandbox.docker import Resources, SandboxSpec
from benchwright.sandbox.docker.containers import GiB
from benchwright.text import one_line

CONTAINER_IMAGE = "ubuntu:22.04"
MAX_TURNS = 15
COMMAND_SECONDS = 60.0
SCRIPT_SECONDS = 300.0
"""Time limit of each script in seconds: the setup script, and the validation script."""

TASK_PROMPT = """\
You work in a Linux container, as root, without a network. Your task:

{instruction}

Answer with the bash commands to run, in a block fenced as ```bash or on lines that begin with `$ `. You are shown \
what they printed. When the task is done, answer without a command."""

_FENCE = re.compile(r"^```bash[ \t]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
_PROMPTED = re.compile(r"^\$ (.+)$", re.MULTILINE)

_SOLUTION = """\
```bash
{script}
```"""


TARGET_TEXT = "the validation script ends with exit code 0"


class ScriptsRow(Record, frozen=True):
    """One task: its instruction, a setup script, and a validation script that exits with 0 on success.

    A task with a `solution_script` has a gold answer for `validate`.
    """

    instruction: str
    validation_script: str
    setup_script: str = ""
    solution_script: str = ""


def make_documented(about: About, options: Options) -> Benchmark:
    """Build the variant of Terminal-Bench that llm-benchmarker documents.

    Raises:
        UserError: If an option has a value that cannot be used.
    """
    image = options.text("image", CONTAINER_IMAGE)

    def solver(containers: Containers) -> Solver:
        return ScriptedTerminal(containers, image)

    return ContainerBenchmark(
        about=about,
        samples=samples,
        solver=solver,
        scorers=(ExitCodeScorer(about.metric),),
        checks=checks,
        max_containers=options.integer("containers", DEFAULT_MAX_CONTAINERS, 1),
        departures=() if image == CONTAINER_IMAGE else (f"the image {image} in place of {CONTAINER_IMAGE}",),
    )


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per row."""
    for number, row in enumerate(source.read(ScriptsRow, "test")):
        yield Sample(
            f"terminal_bench_{number}", msgspec.structs.asdict(row), input=row.instruction, target=TARGET_TEXT
        )


def checks(sample: Sample) -> Iterator[Check]:
    """Yield the checks: first the row's own solution, if it has one, then an agent that does nothing."""
    solution = sample.content["solution_script"]
    if solution:
        block = _SOLUTION.format(script=solution.rstrip("\n"))
        yield Check(GOLD, [assistant(block), assistant("Done.")])
    yield Check("nothing done", [assistant("Done.")], passes=False)


class ScriptedTerminal:
    """A solver that runs the fenced commands of the model, returns their output, and validates the end state."""

    def __init__(self, containers: Containers, image: str) -> None:
        self._sandboxes = containers.sandboxes
        resources = Resources(memory_bytes=2 * GiB, cpus=1.0, disk_bytes=2 * GiB)
        self._spec = SandboxSpec(image, read_only=False, resources=resources, capabilities=CAPABILITIES)

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Return the outcome. Its artifacts include the commands and the validation's result.

        Raises:
            ExecutionError: If the setup script fails, or the container was ended from outside.
        """
        content = trial.sample.content
        async with self._sandboxes.start(self._spec, session.progress) as sandbox:
            setup = await BashSession(sandbox, apart=True).run(content["setup_script"], SCRIPT_SECONDS)
            if not setup.succeeded:
                raise ExecutionError(f"the setup script failed: {format_observation(setup)[-300:]}")
            bash = BashSession(sandbox)
            outcome = await _talk(session, bash, content["instruction"])
            validation = None
            if not (bash.commands and bash.commands[-1].container_ended):
                session.progress("validation")
                terminal = BashSession(sandbox, apart=True)
                validation = await terminal.run(content["validation_script"], SCRIPT_SECONDS)
        artifacts = {"commands": bash.commands, "validation": validation}
        return msgspec.structs.replace(outcome, artifacts=msgspec.to_builtins(artifacts))


class ExitCodeScorer:
    """A scorer that grades by the exit code of the validation script."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.fingerprint = fingerprint("terminal_bench documented", name, "1")

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        """Return the score: 1 if the validation succeeded, else 0."""
        return verdict_score(grade(outcome.artifacts))


def grade(artifacts: Mapping[str, Any]) -> Verdict:
    """Grade by the validation script: 1 if it exited by itself with code 0, else 0."""
    validation = artifacts.get("validation")
    if validation is None:
        why = "the container ended before it could be validated"
        return Verdict(0.0, details={"error": why}, explanation=why)
    record = msgspec.convert(validation, CommandRecord)
    details: dict[str, Any] = {"validation_exit_code": record.exit_code, "validation_output": record.output}
    if record.ended != "exited":
        details["error"] = f"the validation script was ended: {record.ended}"
    why = details.get("error") or f"the validation script ended with exit code {record.exit_code}"
    return Verdict(float(record.succeeded), details=details, explanation=why)


def find_commands(text: str) -> list[str]:
    """Return the commands in an answer: the content of its ```bash blocks.

    If there are no such blocks, return the lines that begin with `$ `.
    """
    blocks = [block.rstrip("\n") for block in _FENCE.findall(text) if block.strip()]
    return blocks or _PROMPTED.findall(text)


async def _talk(session: Session, bash: BashSession, instruction: str) -> Outcome:
    messages: list[Message] = [user(TASK_PROMPT.format(instruction=instruction))]
    reply: Reply | None = None
    for turn in range(1, MAX_TURNS + 1):
        reply = await session.chat(messages)
        messages.append(reply.message)
        commands = find_commands(reply.text)
        if not commands:
            status, reason = answer_status(reply)
            return Outcome(status, messages, reply.text, reason)
        said = []
        for command in commands:
            session.progress(f"turn {turn}: {one_line(command.splitlines()[0], 80)}")
            record = await bash.run(command, COMMAND_SECONDS)
            said.append(format_observation(record))
            if record.container_ended:
                return Outcome(Status.LIMIT, messages, reply.text, f"the container ended: {record.ended}")
        messages.append(user("\n\n".join(said)))
    text = "" if reply is None else reply.text
    return Outcome(Status.LIMIT, messages, text, f"not done within {MAX_TURNS} turns")
