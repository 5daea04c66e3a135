"""The id of the current run, for labels of containers and processes that are started on its behalf."""

from __future__ import annotations

from contextvars import ContextVar

_RUN: ContextVar[str] = ContextVar("run", default="")


def current_run_id() -> str:
    """Return the id of the run to which the calling task belongs. Empty outside of runs."""
    return _RUN.get()


def set_current_run_id(run_id: str) -> None:
    """Set the run id for this task and all tasks that it starts."""
    _RUN.set(run_id)
