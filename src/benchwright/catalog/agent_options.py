"""What the options of agents in containers are called, for `about` modules, which import nothing heavy."""

from __future__ import annotations


def agent_options(task: str, max_turns: int, command_seconds: int) -> dict[str, str]:
    """The names with one line of help each; the numbers are the benchmark's defaults."""
    return {
        "containers": "How many containers run at once (default: 4).",
        "max_turns": f"How many answers the model may give for one {task} (default: {max_turns}).",
        "command_seconds": f"How long one command may run (default: {command_seconds}).",
        "commands": "How the model gives commands: auto (default), tools, fences.",
    }
