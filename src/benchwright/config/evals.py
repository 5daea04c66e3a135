"""Settings that only evals have: dataset rows, the agent that answers, and output files."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from benchwright.config.composed_settings import SettingsSection


class RowSettings(SettingsSection):
    """The dataset, and how its rows become prompts."""

    dataset: Path | None = None
    column: dict[str, str] = {}
    system: str | None = None
    template: str | None = None
    skip_bad_rows: bool = False
    """True: leave out invalid rows and count them."""


class EvalRows(RowSettings):
    """The dataset, how its rows become prompts, and which rows are used."""

    group_by: str | None = None
    limit: int | None = None
    offset: int = 0


class SolverSettings(SettingsSection):
    """The agent that answers: Python code, MCP tools, a program, or a command-line agent."""

    module: str | None = None
    mcp: Path | None = None
    agent_command: str | None = None
    agent: str | None = None
    """Name of the recipe that installs and runs a command-line agent. None: the agent is not a command-line agent."""
    max_turns: int = 10
    debug: bool = False
    """True: write the events that the agent logs by `ctx.log_event` to files."""


class TaskSolver(SettingsSection):
    """Limit of turns for a `Task` object that the caller of the Python API passes."""

    max_turns: int | None = Field(default=None, ge=1)


class OutputSettings(SettingsSection):
    """Files that an eval writes besides its run."""

    output: Path | None = None
    output_path: Path | None = None
    log_samples: bool = False
