"""Solutions of Terminal-Bench 1.0: a shell script, or a list of keys to type."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchwright.catalog.harbor.checks import existing_path, solution_commands
from benchwright.catalog.harbor.settings import TaskSettings
from benchwright.catalog.harbor.task_folders import read_yaml
from benchwright.data.errors import DatasetValidationError


def version_1_solutions(
    settings: TaskSettings, folder: Path, command_seconds: int
) -> Iterator[Sequence[str]]:
    """Yield the commands that run a task's solution: solution.sh. Without that file, they come from solution.yaml.

    Raises:
        DatasetError: If neither file exists, or solution.yaml is not a list of commands.
    """
    (step,) = settings.steps
    file = folder / "solution.sh"
    if file.is_file():
        yield solution_commands([file], "/oracle", "bash $place/solution.sh", settings, step, command_seconds)
    else:
        yield _typed(read_yaml(existing_path(folder / "solution.yaml")), folder)


def _typed(commands: Any, folder: Path) -> list[str]:
    """Return the shell commands for a solution.yaml.

    If every entry is a command that ends with Enter and is waited for, return the entries. Otherwise, return one
    script in which tmux types all keys, so that interactive programs work.
    """
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
