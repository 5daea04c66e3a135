"""A run on disk: journal, manifest, store, and the one table that everything else reads.

The room can be called: `benchwright.runs(...)` lists the runs on this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal


class _Runs(ModuleType):
    """`from benchwright import runs` gives this room whoever imported it before, so it must be what is promised."""

    def __call__(
        self,
        *,
        kind: Literal["eval", "benchmark", "pack", "load", "import", "validation"] | None = None,
        model: str = "",
        name: str = "",
        state: Literal["running", "finished", "decided", "stopped", "unfinished"] | None = None,
        tags: Sequence[str] = (),
        text: str = "",
        suite: str = "",
    ) -> list[Any]:
        """The runs on this machine, the newest first, as `benchwright runs` lists them."""
        from importlib import import_module  # this room may not know that above it, which makes the figures

        lists = import_module("benchwright.analysis.run_list")
        wanted = lists.RunFilter(kind or "", state or "", model, name, tags, text, suite)
        found: list[Any] = lists.list_runs(wanted)
        return found


sys.modules[__name__].__class__ = _Runs
