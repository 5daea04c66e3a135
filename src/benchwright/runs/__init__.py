"""Runs on disk: journal, manifest, store, and the table through which all other code reads a run.

The package can be called: `benchwright.runs(...)` lists the runs on this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Literal


class _Runs(ModuleType):
    """The type of this package's module object. It makes `benchwright.runs(...)` callable.

    The type must be set from the first import on, because `from benchwright import runs` returns this module,
    whichever code imported it first.
    """

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
        """Return the runs on this machine, the newest first, as `benchwright runs` lists them."""
        # `runs` must not import `analysis`, which is a floor above it, when it is loaded.
        from importlib import import_module

        lists = import_module("benchwright.analysis.run_list")
        wanted = lists.RunFilter(kind or "", state or "", model, name, tags, text, suite)
        found: list[Any] = lists.list_runs(wanted)
        return found


sys.modules[__name__].__class__ = _Runs
