"""What the tests of Terminus share: a sandbox that is this very machine, and answers of the model."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from tests.catalog.containers.work_kit import Line, Model, says

from benchwright.catalog.containers import AgentLimits, AgentResult
from benchwright.catalog.containers.terminus import Terminus
from benchwright.endpoint.reply import Reply
from benchwright.recipes.container_launch import ContainerAgent
from benchwright.recipes.recipe_lookup import find_recipe
from benchwright.sandbox.docker import ExecResult

TASK = "Make it so."


class Here:
    """Runs programs in a folder of this machine, as a sandbox would in a container."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def run(
        self,
        argv: Sequence[str],
        *,
        seconds: float,
        stdin: bytes = b"",
        cwd: str = "",
        environment: Mapping[str, str] | None = None,
        kept_bytes: int = 0,
        output_bytes: int = 0,
    ) -> ExecResult:
        """Runs a program."""
        began = perf_counter()
        program = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=self._folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self._folder)},
        )
        out, err = await asyncio.wait_for(program.communicate(stdin), seconds)
        return ExecResult("exited", program.returncode, out, err, seconds=perf_counter() - began)

    async def write_files(self, files: Mapping[str, bytes]) -> None:
        """Is not asked for."""
        raise AssertionError("an agent that types writes no files")

    async def read_file(self, path: str, most: int = 0) -> bytes:
        """Is not asked for."""
        raise AssertionError("an agent that types reads no files")


def types(*keystrokes: str, seconds: float = 0.3, complete: bool = False) -> Reply:
    """An answer that types keys."""
    commands = [{"keystrokes": keys, "duration": seconds} for keys in keystrokes]
    fields = {
        "analysis": "It is as it is.",
        "plan": "Go on.",
        "commands": commands,
        "task_complete": complete,
    }
    return says(json.dumps(fields))


async def worked(folder: Path, *script: Line, seconds: float | None = None) -> tuple[AgentResult, Model]:
    """What came of the work of a model that follows a script; its terminal is closed in the end."""
    model, sandbox = Model(*script), Here(folder)
    terminus = Terminus(find_recipe("terminus"), ContainerAgent(["tmux"], {}))
    try:
        return await terminus.run(model, sandbox, TASK, AgentLimits(9, 9.0, seconds)), model
    finally:
        await sandbox.run(["sh", "-c", "fuser -k . >/dev/null 2>&1 || :"], seconds=10)
