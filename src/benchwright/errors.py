"""Exceptions of Benchwright, all derived from `BenchwrightError`.

    BenchwrightError
    ├── UserError            the person can fix it: one line, exit code 1
    │   └── RunLocked        another process works on this run
    ├── RunUnfinished        a run from Python was stopped before its end
    ├── JournalError         the journal cannot be written or read (full disk, lost directory)
    └── TrialError           something inside one trial; ends the trial, never the run
        ├── ProviderError    the endpoint failed or refused the request
        │   └── RunStopped   the run was stopped while it was silent
        ├── LimitReached     a limit of the trial (turns, tokens, seconds) was used up
        ├── GraderError      a scorer failed
        └── ExecutionError   the agent's, tool's or pack's own code failed

A trial error becomes a status of the trial record (see `records.Status`); the others end the command.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class BenchwrightError(Exception):
    """Base class of all errors that Benchwright raises on purpose.

    The message is one line, with advice on what to do.
    """


class UserError(BenchwrightError):
    """A mistake in the user's input. Printed without a traceback; exit code 1."""


class RunLocked(UserError, TimeoutError):
    """Another process held the lock of the run for the whole waiting time."""


class RunUnfinished(BenchwrightError):
    """A run from Python was stopped before its end by a budget or an endpoint error. `run` is its directory.

    Finished trials are kept: `load_run(error.run)` returns the trials, and the same call as before resumes the run.
    """

    def __init__(self, message: str, run: Path) -> None:
        super().__init__(message)
        self.run = run


class JournalError(BenchwrightError):
    """The journal cannot be written or read. Ends the run. Complete records of the journal are kept."""


class TrialError(BenchwrightError):
    """A failure inside one trial. It ends that trial, and is recorded with the trial."""


class ProviderError(TrialError):
    """The endpoint failed or refused a request.

    `systemic`: True if every further request would fail in the same way (wrong key, unknown model, closed
    port), so the run stops early. `http_status`: None if no response came. `retry_after`: in seconds.
    """

    def __init__(
        self,
        message: str,
        *,
        systemic: bool = False,
        http_status: int | None = None,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.systemic = systemic
        self.http_status = http_status
        self.retryable = retryable
        self.retry_after = retry_after


class RunStopped(ProviderError):
    """The run was stopped while a request was waiting for the endpoint. The trial counts as cut off."""


class LimitReached(TrialError):
    """A limit of the trial was used up. `limit`: the limit's name (turns, tokens or seconds)."""

    def __init__(self, limit: str, allowed: float) -> None:
        super().__init__(f"the trial reached its limit of {allowed:g} {limit}")
        self.limit = limit


class GraderError(TrialError):
    """A scorer raised, or returned something that is not a score."""


class ExecutionError(TrialError):
    """The agent's, tool's or pack's own code failed."""
