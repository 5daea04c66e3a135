"""Checks of a task: its own solution, which must pass the tests, and an idle agent, which must not."""

from __future__ import annotations

import base64
import math
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchwright.catalog.asking import assistant, tool_call
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Step, TaskSettings
from benchwright.data.errors import DatasetNotFound
from benchwright.records import Message, Sample
from benchwright.sandbox.docker.copy_tree import pack_tree

DONE_MESSAGE = "Done."
TRANSCRIPT_BYTES = 4000
"""Maximum number of bytes of a solution's output that its transcript contains.

Of a longer output, only the end is kept.
"""
MAX_SPARE_SECONDS = 5

_UNPACK = """\
place={place}; rm -rf $place /logs/agent/oracle.* 2>/dev/null; mkdir $place 2>/dev/null || place=$(mktemp -d)
base64 -d <<'END_OF_ARCHIVE' | tar -x -o -f - -C $place
{archive}
END_OF_ARCHIVE
"""
_RUN = """\
{environment} {program} >/logs/agent/oracle.txt 2>&1
code=$?; tail -c {last} /logs/agent/oracle.txt; (exit $code)
"""
_RUN_BEHIND = """\
({environment} {program} >/logs/agent/oracle.txt 2>&1; echo $? >/logs/agent/oracle.code) </dev/null &
"""
_WAIT = """\
for second in $(seq {seconds}); do [ -f /logs/agent/oracle.code ] && break; sleep 1; done
tail -c {last} /logs/agent/oracle.txt; [ ! -f /logs/agent/oracle.code ] || exit $(cat /logs/agent/oracle.code)
"""


SolutionCommands = Callable[[TaskSettings, Path, int], Iterator[Sequence[str]]]
"""A function that yields the commands of a solution, step by step.

It takes the settings, the task's folder, and a command's time limit in seconds.
"""


def checks(
    sample: Sample, folder: Path, command_seconds: int, solutions_of: SolutionCommands
) -> Iterator[Check]:
    """Yield two checks: one runs the solution at its official path, step by step; the other is an idle agent.

    The idle agent reports that it is done without doing anything.

    Raises:
        DatasetError: If there is no solution.
    """
    settings = settings_of(sample)
    if settings.problem is None:
        steps = solutions_of(settings, folder, command_seconds)
        replies = [reply for commands in steps for reply in (*map(_call, commands), assistant(DONE_MESSAGE))]
        yield Check(GOLD, replies)
    yield Check("nothing done", [assistant(DONE_MESSAGE)], passes=False)


def step_solutions(settings: TaskSettings, folder: Path, command_seconds: int) -> Iterator[Sequence[str]]:
    """Yield the commands that run the solution of each step: its solve.sh, or if it has none, the task's solve.sh.

    Raises:
        DatasetNotFound: If there is no solution.
    """
    program = "sh -c 'chmod +x $0/solve.sh; exec $0/solve.sh' $place"
    for step in settings.steps:
        own = folder / "steps" / step.name / "solution"
        solution = existing_path(own if step.name and own.exists() else folder / "solution")
        yield solution_commands([solution], "/solution", program, settings, step, command_seconds)


def solution_commands(
    sources: Sequence[Path],
    place: str,
    program: str,
    settings: TaskSettings,
    step: Step,
    command_seconds: int,
) -> list[str]:
    """Return the commands that run a solution.

    Usually there is one command. If the step may take longer than the time limit of a command, the first
    command starts the solution in the background, and the other commands wait for it.
    """
    archive = base64.encodebytes(pack_tree(sources)).decode("ascii").rstrip("\n")
    unpack = _UNPACK.format(place=place, archive=archive)
    variables = {"DEBIAN_FRONTEND": "noninteractive", **settings.solution_environment}
    environment = "env " + " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    words = {"environment": environment, "program": program, "last": TRANSCRIPT_BYTES}
    if step.agent_seconds is None or step.agent_seconds <= command_seconds:
        return [unpack + _RUN.format(**words)]
    seconds = max(1, command_seconds - min(MAX_SPARE_SECONDS, command_seconds // 2))
    waits = math.ceil(step.agent_seconds / seconds)
    return [
        unpack + _RUN_BEHIND.format(**words),
        *[_WAIT.format(seconds=seconds, last=TRANSCRIPT_BYTES)] * waits,
    ]


def existing_path(path: Path) -> Path:
    """Check that a solution exists. Return its path unchanged.

    Raises:
        DatasetNotFound: If nothing exists at the path.
    """
    if not path.exists():
        raise DatasetNotFound(f"{path} is missing: the task has no solution to check")
    return path


def _call(command: str) -> Message:
    return tool_call("bash", {"command": command})
