"""Failures of a pack's process and of calls to the process, and the errors that callers get."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.errors import ExecutionError, LimitReached, ProviderError, TrialError
from benchwright.packs.bridge.cell import ProviderFailure
from benchwright.packs.bridge.limits import MEBIBYTE, BridgeLimits
from benchwright.text import one_line

RETRYABLE_STATUSES = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 after which a request is retried, as in the desktop host (BenchLocal)."""

_WHAT_FAILED = {
    "load": "the pack did not load",
    "prepare": "the pack's prepare() failed",
    "run": "the scenario failed",
    "score": "the pack's scoreModelResults() failed",
    "dispose": "the pack's dispose() failed",
}


@dataclass
class PackFailure(Exception):
    """Raised if the pack's code failed.

    `error`: for an exception, its name, message, stack and status, and `uncaught` if nothing caught it. For
    an unusable return value, a message and `unusable`. `metadata`: see `connection.Reply`. `location`: file
    and line in the pack, None if unknown.
    """

    error: dict[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    location: str | None = None


@dataclass
class ProcessDied(Exception):
    """Raised for a call during which the pack's process ended.

    `is_cause`: True if this call caused the end. `may_be_cause`: True if this call may have caused the end,
    because the cause is unknown.
    """

    reason: str
    is_cause: bool
    may_be_cause: bool


@dataclass
class CallTimeout(Exception):
    """Raised for a call that did not end within its `seconds`.

    `is_unresponsive`: True if the process did not answer a ping either, and so was ended.
    `unhandled_rejection`: an earlier promise rejection that the pack did not handle, None if there was none.
    """

    seconds: float
    is_unresponsive: bool
    unhandled_rejection: str | None


def to_trial_error(call: str, problem: PackFailure | ProcessDied | CallTimeout) -> TrialError:
    """Convert a failed call into the error to raise, with a message of one line.

    `call`: load, prepare, run, score or dispose. The failure of a scenario is a provider error if the thrown
    error has an HTTP status, or if the last request to the provider had failed. A scenario that did not end
    in time has reached a limit.
    """
    if isinstance(problem, ProcessDied):
        return ExecutionError(f"{_WHAT_FAILED[call]}: {problem.reason}")
    if isinstance(problem, CallTimeout):
        return _out_of_time(call, problem)
    error, trouble = problem.error, provider_failure_of(problem.metadata)
    if error.get("unusable"):
        return ExecutionError(
            f"{_WHAT_FAILED[call]}, as what it gave back cannot be used: {format_error(error)}"
        )
    how = ", an exception was not caught" if error.get("uncaught") else ""
    place = "" if problem.location is None else f" ({problem.location})"
    text = f"{_WHAT_FAILED[call]}{how}: {format_error(error)}{place}"
    status = error.get("status")
    if call == "run" and isinstance(status, int):
        return ProviderError(
            text, http_status=status, retryable=status in RETRYABLE_STATUSES or status >= 500
        )
    if call == "run" and trouble is not None:
        return ProviderError(text, http_status=trouble.http_status, retryable=trouble.retryable)
    return ExecutionError(text)


def _out_of_time(call: str, problem: CallTimeout) -> TrialError:
    text = f"{_WHAT_FAILED[call]}: it did not end within {problem.seconds:g} s"
    if problem.is_unresponsive:
        return ExecutionError(
            f"{text}, and its process, which did not answer either (an endless loop?), was ended"
        )
    if problem.unhandled_rejection:
        return ExecutionError(f"{text}; a promise had been rejected: {problem.unhandled_rejection}")
    return LimitReached("seconds", problem.seconds) if call == "run" else ExecutionError(text)


def provider_failure_of(about: Mapping[str, Any]) -> ProviderFailure | None:
    """Return the failure of a call's last request to the provider. Return None if that request succeeded.

    `about`: the metadata of the call (see `connection.Reply`).
    """
    trouble = about.get("trouble")
    if not isinstance(trouble, dict):
        return None
    return ProviderFailure(
        message=str(trouble.get("message")),
        http_status=trouble.get("status"),
        retryable=bool(trouble.get("retryable")),
        has_empty_body=bool(trouble.get("blank")),
    )


MAX_MESSAGE_LENGTH = 400
CHANNEL_LOST_EXIT_CODE = 70
"""Exit code of a pack's process when its channel no longer works. The code that runs the pack in it exits so."""


def describe_process_end(ending: str, last_error: str, limits: BridgeLimits) -> str:
    """Describe for users how the pack's process ended, in one sentence.

    `ending`: the supervisor's report ("exit 3", "signal 9", "memory", "trouble …"). `last_error`: the last
    line of stderr.
    """
    kind, _, what = ending.partition(" ")
    said = f": {one_line(last_error, MAX_MESSAGE_LENGTH)}" if last_error else ""
    if kind == "memory" or "heap out of memory" in last_error:
        return f"the pack used more than the {limits.memory_bytes // MEBIBYTE} MiB of memory it is allowed"
    if kind == "trouble":
        return f"the pack's process cannot be started: {what}"
    if kind == "exit" and what == str(CHANNEL_LOST_EXIT_CODE):
        return "the pack closed the bridge's channel, and its process was ended"
    if kind == "exit":
        return f"the pack's process ended with exit code {what}{said}"
    return f"the pack's process was ended by {_signal_name(what)}{said}"


def _signal_name(number: str) -> str:
    try:
        return signal.Signals(int(number)).name
    except ValueError:
        return f"signal {number}"


def format_error(error: dict[str, Any]) -> str:
    """Format a pack's error as "Name: message". If the name is Error, return the message alone."""
    name, message = str(error.get("name") or ""), str(error.get("message") or "")
    return one_line(message if name in ("", "Error") else f"{name}: {message}", MAX_MESSAGE_LENGTH)
