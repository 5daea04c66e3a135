"""The one place where what happens inside a trial becomes a status."""

from __future__ import annotations

import asyncio
from types import TracebackType

from benchwright.errors import LimitReached, ProviderError, UserError
from benchwright.records import Status

LONGEST_REASON = 500


class Boundary:
    """A context manager that ends with a status instead of an exception.

    `status` and `reason` are None when the body went through. Cancellation and a user's mistake pass
    through, the first noted as `cancelled`. Whatever else the body raises, `SystemExit` included, is the
    trial's own affair. A provider error that the agent's code wrapped in another exception stays one.
    """

    def __init__(self) -> None:
        self.status: Status | None = None
        self.reason: str | None = None
        self.systemic = False

    def __enter__(self) -> Boundary:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if isinstance(error, asyncio.CancelledError):
            self.status, self.reason = Status.CANCELLED, "the run was stopped"
            return False
        if isinstance(error, UserError | KeyboardInterrupt | GeneratorExit):
            return False
        self.status, self.reason, self.systemic = _classify(error)
        return True


def _classify(error: BaseException) -> tuple[Status, str, bool]:
    for cause in _causes(error):
        if isinstance(cause, ProviderError):
            return Status.PROVIDER_ERROR, describe(cause), cause.systemic
        if isinstance(cause, LimitReached):
            return Status.LIMIT, describe(cause), False
    return Status.EXECUTION_ERROR, describe(error), False


def _causes(error: BaseException) -> list[BaseException]:
    """The exception and those behind it, outermost first."""
    chain: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in chain:
        chain.append(current)
        current = current.__cause__ or current.__context__
    return chain


def describe(error: BaseException) -> str:
    """An exception in one line: our own errors by their text, others with their type."""
    text = " ".join(str(error).split())
    if not isinstance(error, ProviderError | LimitReached):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST_REASON else text[: LONGEST_REASON - 1] + "…"
