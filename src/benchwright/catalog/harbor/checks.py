"""A task's own solution, which must pass its tests, and nothing at all, which must not."""

from __future__ import annotations

import base64
import math
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchwright.catalog.asking import assistant, tool_call
from benchwright.catalog.benchmark import GOLD, Check
from benchwright.catalog.harbor.folders import read_yaml
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Settings
from benchwright.data.errors import DatasetNotFound, DatasetValidationError
from benchwright.records import Message, Sample
from benchwright.sandbox.docker.trees import packed_tree

DONE = "Done."
LAST_BYTES = 4000
"""Bytes of a solution's output that its transcript shows."""
SPARE_SECONDS = 5

_UNPACK = """\
place={place}; mkdir -p $place 2>/dev/null || place=$(mktemp -d)
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


def checks(sample: Sample, folder: Path, command_seconds: int) -> Iterator[Check]:
    """The solution, run where the official harness puts it; and an agent that is done at once.

    Raises:
        DatasetError: there is no solution.
    """
    settings = settings_of(sample)
    if settings.problem is None:
        yield Check(GOLD, [*map(_call, _commands(settings, folder, command_seconds)), assistant(DONE)])
    yield Check("nothing done", [assistant(DONE)], passes=False)


def _commands(settings: Settings, folder: Path, command_seconds: int) -> Sequence[str]:
    if settings.parser == "reward":
        program = "sh -c 'chmod +x $0/solve.sh; exec $0/solve.sh' $place"
        return _script([_existing(folder / "solution")], "/solution", program, settings, command_seconds)
    if (folder / "solution.sh").is_file():
        return _script(
            [folder / "solution.sh"], "/oracle", "bash $place/solution.sh", settings, command_seconds
        )
    return _typed(read_yaml(_existing(folder / "solution.yaml")), folder)


def _script(
    sources: Sequence[Path], place: str, program: str, settings: Settings, command_seconds: int
) -> list[str]:
    """One command; where the task allows more time than a command has, one that starts it and others that wait."""
    archive = base64.encodebytes(packed_tree(sources)).decode("ascii").rstrip("\n")
    unpack = _UNPACK.format(place=place, archive=archive)
    variables = {"DEBIAN_FRONTEND": "noninteractive", **settings.solution_environment}
    environment = "env " + " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
    words = {"environment": environment, "program": program, "last": LAST_BYTES}
    if settings.agent_seconds <= command_seconds:
        return [unpack + _RUN.format(**words)]
    seconds = max(1, command_seconds - min(SPARE_SECONDS, command_seconds // 2))
    waits = math.ceil(settings.agent_seconds / seconds)
    return [unpack + _RUN_BEHIND.format(**words), *[_WAIT.format(seconds=seconds, last=LAST_BYTES)] * waits]


def _typed(commands: Any, folder: Path) -> list[str]:
    """The commands of a solution.yaml in one terminal; what types into a program needs the image's tmux."""
    if not isinstance(commands, list) or not all(
        isinstance(one, dict) and "command" in one for one in commands
    ):
        raise DatasetValidationError(f"{folder / 'solution.yaml'}: there is no list of commands")
    if all(one.get("append_enter", True) and one.get("block", True) for one in commands):
        return [str(one["command"]) for one in commands]
    return ["\n".join(["tmux new-session -d -s oracle -x 160 -y 40", *map(_keys, commands)])]


def _keys(one: dict[str, Any]) -> str:
    block = one.get("block", True) and one.get("append_enter", True)
    keys = str(one["command"]) + ("; tmux wait -S done" if block else "")
    enter = " Enter" if one.get("append_enter", True) else ""
    waiting = "tmux wait done" if block else f"sleep {float(one.get('min_timeout_sec') or 0):g}"
    return f"tmux send-keys -t oracle {shlex.quote(keys)}{enter}; {waiting}"


def _existing(path: Path) -> Path:
    if not path.exists():
        raise DatasetNotFound(f"{path} is missing: the task has no solution to check")
    return path


def _call(command: str) -> Message:
    return tool_call("bash", {"command": command})
