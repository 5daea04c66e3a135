"""An engine task over a dataset, in which a model uses a directory of MCP tools."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchwright.agents.mcp.loading import MCPLoadError, load_mcp_server
from benchwright.agents.mcp.toolbox import open_toolbox
from benchwright.agents.rows import RowsTask, SampleRows
from benchwright.engine.protocols import Scorer, Session
from benchwright.engine.tool_loop import Toolbox, run_tool_loop
from benchwright.records import Outcome, Status, TaskSpec, Trial
from benchwright.runs.keys import fingerprint
from benchwright.runs.source_fingerprints import fingerprint_or_unique, source_fingerprint

TASK_NAME = "mcp_agent"
TASK_VERSION = "1"
"""Version of the task. Increase it when the requests for the same row with the same tools would change."""


class McpTask(RowsTask):
    """Engine task that sends each row of the dataset at `path` to the model with the tools of `directory`.

    `max_turns`: the maximum number of the model's responses in a trial. A trial that reaches this limit is
    scored by the conversation so far. `completion_params`: body fields of every request. The fingerprint
    covers `max_turns` and `completion_params`. It also covers every `*.py` file below the directory, with
    what the file imports from the user's own project, but no other file that the tools read.

    Raises:
        MCPLoadError: If the server cannot be loaded; see `load_mcp_server`.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        path: Path,
        scorers: Sequence[Scorer],
        *,
        limit: int | None = None,
        offset: int = 0,
        max_turns: int = 10,
        completion_params: Mapping[str, Any] | None = None,
        group_by: str | None = None,
    ) -> None:
        self._directory = directory
        self._server = load_mcp_server(directory)
        self._max_turns = max_turns
        self._completion_params = completion_params or {}
        sources = fingerprint_or_unique(source_fingerprint(Path(directory).resolve()))
        spec = TaskSpec(
            name=TASK_NAME,
            version=TASK_VERSION,
            fingerprint=fingerprint("mcp", TASK_VERSION, sources, max_turns, self._completion_params),
            group_by=group_by,
        )
        super().__init__(SampleRows(path, limit, offset, group_by), spec, scorers)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[McpSolver]:
        """Connect to the server, once for all trials of the worker, and yield the solver.

        Raises:
            MCPLoadError: If the server does not start, or has no tools.
        """
        async with open_toolbox(self._server) as toolbox:
            if not toolbox.tools:
                raise MCPLoadError(
                    f"The MCP server in {self._directory} has no tools; add functions to it with @mcp.tool()."
                )
            yield McpSolver(toolbox, self._max_turns, self._completion_params)


class McpSolver:
    """Solver that lets the model use the tools until it answers."""

    def __init__(self, toolbox: Toolbox, max_turns: int, completion_params: Mapping[str, Any]) -> None:
        self._toolbox = toolbox
        self._max_turns = max_turns
        self._completion_params = completion_params

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Send the row's prompts. Run the tools that the model calls, until the model answers.

        `artifacts["finish_reason"]` is "max_turns" or "stop", as osmosis_ai documents.

        Raises:
            ProviderError: If the endpoint failed; see `Session.chat`.
            LimitReached: If a limit of the trial was reached.
        """
        content = trial.sample.content
        messages = [
            {"role": "system", "content": content["system_prompt"]},
            {"role": "user", "content": content["user_prompt"]},
        ]
        outcome = await run_tool_loop(
            session, messages, self._toolbox, self._max_turns, **self._completion_params
        )
        return msgspec.structs.replace(
            outcome, artifacts={"finish_reason": documented_finish_reason(outcome)}
        )


def documented_finish_reason(outcome: Outcome) -> str:
    """Return the finish reason of a tool loop in the words that osmosis_ai documents.

    It is "max_turns" if the trial reached its limit of turns, and "stop" otherwise.
    """
    return "max_turns" if outcome.status is Status.LIMIT else "stop"
