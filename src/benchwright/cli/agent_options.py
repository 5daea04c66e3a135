"""Options that select the agent: Python code, MCP tools, a program, or a recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from benchwright.cli import completions
from benchwright.cli.command_help import combine_options, option

recipe_option = option(
    "--agent", "agent", multiple=True, metavar="NAME", heading="Agent", rare=True,
    shell_complete=completions.complete_agents,
    help="Command-line agent, as `benchwright agents` lists it. Repeatable: each works with each model.",
)  # fmt: skip


def single_agent(named: Sequence[str]) -> str | None:
    """Return the agent that the user named. None if the user named no agent.

    Several agents are run as a suite (`agent_suites`), never here.
    """
    return next(iter(named), None)


agent_command_option = option(
    "--agent-command", metavar="COMMAND", heading="Agent", rare=True,
    help="Your agent as a program: it reads the row as JSON from stdin, calls the model at $OPENAI_BASE_URL and "
    "prints its answer.",
)  # fmt: skip


def agent_options(*old: str) -> Callable[[Any], Any]:
    """Return the options that select the agent: a Python object, or a directory of MCP tools.

    `old`: deprecated spellings of `--module`.
    """
    return combine_options(
        option("-m", "--module", "module", old=old, metavar="MODULE:ATTR", heading="Agent",
               help="Your agent (default: none; the model is asked)."),
        option("--mcp", type=click.Path(path_type=Path), metavar="DIR", heading="Agent", rare=True,
               help="Directory of MCP tools, with a main.py that creates a FastMCP instance."),
        option("--max-turns", type=int, metavar="N", default=10, heading="Agent", rare=True,
               help="Maximum turns of an agent in one trial."),
    )  # fmt: skip
