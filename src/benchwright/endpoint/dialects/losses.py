"""Parts of a request that its translation could not express."""

from __future__ import annotations

from benchwright.endpoint.flags import PARTS_LEFT_OUT, TOOLS_LEFT_OUT, noted


class Losses:
    """The tools that a translated request does not offer, and the parts of its conversation that it lacks."""

    def __init__(self) -> None:
        self._tools: dict[str, None] = {}
        self._parts: dict[str, None] = {}

    def tool(self, name: str) -> None:
        """Add a kind of tool that the model is not offered."""
        self._tools[name] = None

    def part(self, name: str) -> None:
        """Add a kind of item, block or part whose content the model does not get."""
        self._parts[name] = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags for the request; empty if nothing was lost."""
        kinds = ((TOOLS_LEFT_OUT, self._tools), (PARTS_LEFT_OUT, self._parts))
        return tuple(noted(kind, ", ".join(names)) for kind, names in kinds if names)
