"""Record of the parts of a request that its translation could not express."""

from __future__ import annotations

from benchwright.endpoint.flags import PARTS_LEFT_OUT_FLAG, TOOLS_LEFT_OUT_FLAG, make_flag


class TranslationLosses:
    """Record of what a translated request lacks: tools that it does not offer, and parts of its conversation."""

    def __init__(self) -> None:
        self._tools: dict[str, None] = {}
        self._parts: dict[str, None] = {}

    def add_tool(self, name: str) -> None:
        """Add a kind of tool that is not offered to the model."""
        self._tools[name] = None

    def add_part(self, name: str) -> None:
        """Add a kind of item, block or part whose content the model does not get."""
        self._parts[name] = None

    @property
    def flags(self) -> tuple[str, ...]:
        """Flags of the request, which name the lost tools and parts; empty if nothing was lost."""
        kinds = ((TOOLS_LEFT_OUT_FLAG, self._tools), (PARTS_LEFT_OUT_FLAG, self._parts))
        return tuple(make_flag(kind, ", ".join(names)) for kind, names in kinds if names)
