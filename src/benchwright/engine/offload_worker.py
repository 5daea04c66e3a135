"""The other end of `engine.offload`: calls functions one after the other until its stdin ends."""

from __future__ import annotations

import os
import pickle
import sys
from typing import Any

HEADER = 8
"""Bytes of a message's length, before it."""


def main() -> None:
    """Reads requests, and answers each with (whether it succeeded, its value or its error)."""
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what is printed must not get between the answers
    while header := requests.read(HEADER):
        answer = _answer(requests.read(int.from_bytes(header, "big")))
        answers.write(len(answer).to_bytes(HEADER, "big") + answer)
        answers.flush()


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
