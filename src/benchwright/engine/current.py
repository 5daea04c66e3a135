"""The id of the run that is under way, for labels of what is started on its behalf."""

from __future__ import annotations

from contextvars import ContextVar

_RUN: ContextVar[str] = ContextVar("run", default="")


def current_run() -> str:
    """The id of the run in whose task this is called; empty outside of runs."""
    return _RUN.get()


def set_current_run(run_id: str) -> None:
    """Names the run for this task and all that it starts."""
    _RUN.set(run_id)
