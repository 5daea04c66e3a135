"""The other end of `engine.offload`: calls functions one after the other until its stdin ends."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from contextlib import suppress
from typing import Any

HEADER = 8
"""Bytes of a message's length, before it."""


MOST_MEMORY = 4 * 2**30
"""Bytes of address space that a process may have; what asks for more gets a `MemoryError`."""

NICENESS = 10
"""By how much its priority is lowered: it must not interrupt the event loop that sends and times requests."""


def main() -> None:
    """Reads requests, and answers each with (whether it succeeded, its value or its error).

    It ends when nobody asks or listens any more; Ctrl-C is for the process that asks.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    _bound_memory()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed must not get between the answers
    while len(header := requests.read(HEADER)) == HEADER:
        size = int.from_bytes(header, "big")
        request = requests.read(size)
        if len(request) < size:
            return
        answer = _answer(request)
        try:
            answers.write(len(answer).to_bytes(HEADER, "big") + answer)
            answers.flush()
        except BrokenPipeError:
            os._exit(1)  # else Python would try once more to write what is left, and complain


def _bound_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    with suppress(OSError, ValueError):  # macOS refuses such limits
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _answer(request: bytes) -> bytes:
    try:
        function, args = pickle.loads(request)
        return pickle.dumps((True, function(*args)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # it is raised in the process that asked
        return _failure(error)


def _failure(error: Exception) -> bytes:
    """The error, as itself where it can be sent, else told in words."""
    try:
        encoded = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(encoded)
    except Exception:
        told: Any = RuntimeError(f"{type(error).__name__}: {error}")
        return pickle.dumps((False, told), pickle.HIGHEST_PROTOCOL)
    return encoded


if __name__ == "__main__":
    main()
