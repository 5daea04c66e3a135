"""A run on disk: journal, manifest, store, and the one table that everything else reads.

The room can be called: `benchwright.runs(...)` lists the runs on this machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from benchwright.runs.listing import ListedRun


class _Runs(ModuleType):
    """`from benchwright import runs` gives this room whoever imported it before, so it must be what is promised."""

    def __call__(
        self,
        *,
        kind: Literal["eval", "benchmark", "pack"] | None = None,
        model: str = "",
        state: Literal["finished", "stopped", "unfinished"] | None = None,
        tags: Sequence[str] = (),
    ) -> list[ListedRun]:
        """The runs on this machine, the newest first, as `benchwright runs` lists them."""
        from benchwright.runs.listing import list_runs

        return list_runs(kind=kind, model=model, state=state, tags=tags)


sys.modules[__name__].__class__ = _Runs
