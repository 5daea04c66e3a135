"""What a domain is: its tables, and its tools by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from benchwright.catalog.tau_bench.database import Database

Tool = Callable[..., str]
"""(database, the arguments by name) -> what the model is told. May raise; see `Domain.call`."""

TRANSFER = "transfer_to_human_agents"
"""The tool that ends a conversation."""


class Refused(Exception):
    """A tool's answer to a request that cannot be met. The model is told its text after `Error: `."""


class Domain(msgspec.Struct, frozen=True):
    """A domain: the names of its tables, the tools that only read, and those that write to the database."""

    name: str
    tables: tuple[str, ...]
    reading: dict[str, Tool]
    writing: dict[str, Tool]

    def call(self, database: Database, name: str, arguments: dict[str, Any]) -> str:
        """Runs a tool; whatever goes wrong is told to the model in tau-bench's words."""
        tool = self.writing.get(name) or self.reading.get(name)
        if tool is None:
            return f"Unknown action {name}"
        try:
            return tool(database, **arguments)
        except Exception as error:  # arguments that do not fit can raise anything
            return f"Error: {error}"


def by_name(*tools: Tool) -> dict[str, Tool]:
    """Tools by name. Each is also called as in tau-bench, for Python's own words about wrong arguments."""
    for tool in tools:
        words = tool.__name__.split("_")
        tool.__qualname__ = "".join(word.capitalize() for word in words) + ".invoke"
    return {tool.__name__: tool for tool in tools}
