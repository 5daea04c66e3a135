"""Converts exceptions inside a trial to statuses. No other module does this."""

from __future__ import annotations

import asyncio
from types import TracebackType

from benchwright.errors import LimitReached, ProviderError, RunStopped, TrialError, UserError
from benchwright.records import Status
from benchwright.secrets import SECRETS
from benchwright.text import error_line, one_line

MAX_REASON_LENGTH = 500


class ErrorBoundary:
    """A context manager that turns an exception raised inside the context into a status.

    `status` and `reason` are None if no exception was raised. `systemic`: True if every further request would
    meet the same error. Exceptions that end the run propagate (see `ends_the_run`): a `UserError`, Ctrl-C, and
    the cancellation of the run, which also sets the status `cancelled`. Any other exception, even `SystemExit`,
    concerns the trial only. If the agent's code wrapped a provider error in another exception, or in an
    exception group, the error still counts as a provider error.
    """

    def __init__(self) -> None:
        self.status: Status | None = None
        self.reason: str | None = None
        self.systemic = False

    def __enter__(self) -> ErrorBoundary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if ends_the_run(error):
            if isinstance(error, asyncio.CancelledError):
                self.status, self.reason = Status.CANCELLED, "the run was stopped"
            return False
        self.status, self.reason, self.systemic = _classify(error)
        return True


def ends_the_run(error: BaseException) -> bool:
    """Return True if an exception concerns the whole run and not only the trial that raised it.

    A CancelledError concerns the run if the current task is being cancelled. Otherwise the agent's own code
    cancelled something that it was waiting for.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, UserError | KeyboardInterrupt | GeneratorExit)


def _classify(error: BaseException) -> tuple[Status, str, bool]:
    for cause in _causes(error):
        if isinstance(cause, RunStopped):
            return Status.CANCELLED, describe_error(cause), False
        if isinstance(cause, ProviderError):
            return Status.PROVIDER_ERROR, describe_error(cause), cause.systemic
        if isinstance(cause, LimitReached):
            return Status.LIMIT, describe_error(cause), False
    return Status.EXECUTION_ERROR, describe_error(error), False


def _causes(error: BaseException) -> list[BaseException]:
    """Return the exception, its causes, and the members of exception groups, outermost first."""
    chain: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        current = waiting.pop(0)
        if current is None or any(current is seen for seen in chain):
            continue
        chain.append(current)
        if isinstance(current, BaseExceptionGroup):
            waiting.extend(current.exceptions)
        waiting.append(current.__cause__ or current.__context__)
    return chain


def describe_error(error: BaseException) -> str:
    """Describe an exception in one line without secrets.

    The line is the text of the exception. For an exception that is not one of our own, its type is added.
    """
    text = str(error) if isinstance(error, TrialError) else error_line(error)
    return one_line(SECRETS.redact(text), MAX_REASON_LENGTH)
