"""Run lookup: decides which run a command continues, by one rule for each kind of command.

- `eval`: the documented cache files determine the run (`eval_cache`).
- `run`, `pack run` and `evaluate` with a Task: the newest run of the same fingerprint that is unfinished, or whose
  result is not written yet (`unfinished`).
- `resume`, `retry` and `judge`: the run that the user names, with its own settings (`named`).
- `load` and validation: always a new run (`NewRunLookup`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from benchwright.text import Say


class RunLookup(Protocol):
    """Finds or makes the run that belongs to a request."""

    def open_run(self, make: Callable[[], Path], say: Say) -> AbstractAsyncContextManager[Path]:
        """Find or make the run, and yield its directory. The run is locked until the context exits."""
        ...


class NewRunLookup:
    """Run lookup that always makes a new run."""

    @asynccontextmanager
    async def open_run(self, make: Callable[[], Path], say: Say) -> AsyncIterator[Path]:
        """Make a run, and yield its directory."""
        yield make()
