"""Agents that are installed by a recipe and run on this machine. For each row, the agent has a new folder and home."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from benchwright.agents.command_task import describe_failure
from benchwright.agents.external_agent_task import AgentAnswer, ExternalAgentTask
from benchwright.agents.program_running import LeftoverProcesses, ProgramResult, run_program
from benchwright.agents.rows import SampleRows
from benchwright.data.columns import PromptColumns
from benchwright.data.rows import Row, name_file_in_errors
from benchwright.endpoint.serving.listener import LOOPBACK_HOST
from benchwright.engine.agent_requests import AgentAccess
from benchwright.engine.protocols import Scorer
from benchwright.errors import ExecutionError
from benchwright.recipes.collected_files import TOOL_LEFTOVERS, files_below, texts_below, texts_of
from benchwright.recipes.installed_agents import host_launch_command
from benchwright.recipes.launch_specs import ModelAccess, build_launch_spec
from benchwright.recipes.recipe import Recipe
from benchwright.records import Trial

INHERITED_VARIABLES = (
    "PATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "SSL_CERT_FILE",
)
"""Environment variables that are passed on to an agent.

None of them can contain a key, an address or a user's setting.
"""

MAX_OUTPUT_CHARACTERS = 256 * 1024
"""Number of characters that are kept of an agent's output. Of longer output, the last characters are kept."""

MAX_KEPT_FILES = 500
"""Maximum number of files in a work folder. If there are more, none of the folder's files is kept."""


def recipe_task(
    path: Path,
    recipe: Recipe,
    scorers: Sequence[Scorer],
    *,
    columns: Mapping[str, str] | None = None,
    needs_target: bool = True,
    limit: int | None = None,
    offset: int = 0,
    group_by: str | None = None,
) -> ExternalAgentTask:
    """Return the task of an agent that is installed by a recipe. Columns are found as in `PromptTask`.

    Raises:
        DatasetError: If the file cannot be read, is empty, or lacks a required column.
        UserError: If the agent is not installed.
    """
    first = SampleRows(path, limit, offset, group_by).first_row()
    with name_file_in_errors(path):
        parts = PromptColumns.find(first, columns, needs_target=needs_target)
    agent, content = RecipeAgent(recipe), parts.convert_row
    return ExternalAgentTask(
        path, agent, scorers, limit=limit, offset=offset, group_by=group_by, content=content
    )


class RecipeAgent:
    """Runs an agent's program once per row, in an empty folder to which the row's `files` ({path: text}) are written.

    The prompt consists of the row's system prompt, if there is one, and the row's user prompt. The answer is
    the model's last response. Artifacts: `output`, `stderr`, the agent's own `records`, and the `files` in
    its folder, all as texts.

    Raises:
        UserError: If the agent is not installed.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.name = recipe.name
        self.fingerprint = recipe.fingerprint
        self._recipe = recipe
        self._launch = host_launch_command(recipe)

    async def run(self, row: Row, trial: Trial, calls: AgentAccess) -> AgentAnswer:
        """Run the agent on one row.

        The agent has failed if it sends no request to the model, or if its exit status is not 0.

        Raises:
            ExecutionError: If the agent cannot be started or prints too much, or if the row's `files` are
                invalid.
        """
        way = ModelAccess(calls.base_url, calls.token, calls.model)
        left: list[LeftoverProcesses] = []
        async with _folders() as (home, work):
            _write_files(row.get("files"), work)
            start = build_launch_spec(self._recipe, self._launch, _prompt(row), way, str(home))
            for path, text in start.files.items():
                _write(Path(path), text)
            environment = _environment(os.environ) | start.environment | {"BENCHWRIGHT_TRIAL": trial.key}
            running = run_program(start.command, b"", environment, work, left.append)
            ended = await calls.run_within_limits(running)
            kept, notes = await asyncio.to_thread(self._kept, home, work)
        artifacts = {**kept, **_said(ended)}
        answer = "" if calls.reply is None else calls.reply.text
        notes = [*map(str, left), *notes]
        return AgentAnswer(answer, artifacts=artifacts, failure=_failure(ended, calls), notes=notes)

    def _kept(self, home: Path, work: Path) -> tuple[dict[str, Any], list[str]]:
        """Return (artifacts, remarks).

        The artifacts are collected from the agent's folders; the remarks are for the trial.
        """
        names = files_below(work, ["**/*"], without=TOOL_LEFTOVERS)
        too_many = len(names) > MAX_KEPT_FILES
        kept = {
            "agent": self._recipe.label,
            "records": texts_below(home, self._recipe.records),
            "files": {} if too_many else texts_of(work, names),
        }
        return kept, [
            f"the work folder has more than {MAX_KEPT_FILES} files; none is kept"
        ] if too_many else []


@asynccontextmanager
async def _folders() -> AsyncIterator[tuple[Path, Path]]:
    """Create the agent's home and, beside it, the agent's work folder. Remove both folders on exit."""
    place = await asyncio.to_thread(tempfile.mkdtemp, prefix="benchwright-agent-")
    try:
        folders = Path(place, "home"), Path(place, "work")
        for folder in folders:
            os.mkdir(folder)
        yield folders
    finally:
        await asyncio.to_thread(_remove, place)


def _remove(place: str) -> None:
    """Remove a folder of any depth, even if it contains folders to which their owner cannot write."""
    remove = ["rm", "-rf", "--", place]
    if subprocess.run(remove, stderr=subprocess.DEVNULL, check=False).returncode:
        subprocess.run(["chmod", "-R", "u+rwX", "--", place], stderr=subprocess.DEVNULL, check=False)
        subprocess.run(remove, stderr=subprocess.DEVNULL, check=False)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environ[name] for name in INHERITED_VARIABLES if name in environ}
    return kept | {"NO_PROXY": LOOPBACK_HOST, "no_proxy": LOOPBACK_HOST}


def _prompt(row: Row) -> str:
    return "\n\n".join(text for text in (row.get("system_prompt"), row.get("user_prompt")) if text)


def _write_files(files: Any, work: Path) -> None:
    if files is None:
        return
    if not isinstance(files, Mapping) or not all(isinstance(text, str) for text in files.values()):
        raise ExecutionError("the row's `files` must be an object of texts by path")
    for name, text in files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise ExecutionError(f"the row's file {name!r} lies outside of the agent's folder")
        _write(work / path, text)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _said(ended: ProgramResult | None) -> dict[str, str]:
    if ended is None:
        return {}
    output = ended.output.decode("utf-8", "replace")[-MAX_OUTPUT_CHARACTERS:]
    return {name: text for name, text in (("output", output), ("stderr", ended.stderr)) if text}


def _failure(ended: ProgramResult | None, calls: AgentAccess) -> str | None:
    if ended is None or calls.limit_told.is_set():
        return "a limit was reached"
    if ended.exit_status != 0:
        return describe_failure(ended)
    return "the agent ended without an answer of the model" if calls.reply is None else None
