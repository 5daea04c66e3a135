"""The program of the processes of `engine.offload`: imports dependencies once, then calls functions in a child
process.

The child is forked after the imports. If the kernel kills the child, for example because its CPU time is used
up, the next child is forked at once, without importing again.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
from contextlib import suppress
from typing import Any, BinaryIO, NoReturn

HEADER_BYTES = 8
"""Size in bytes of the header of a message, which contains the message's length."""

VALUE, ERROR, ENDED = "value", "error", "ended"
"""Kinds of answers. `VALUE`: the function's result. `ERROR`: the exception that the function raised.

`ENDED`: the signal that ended the process in which the function ran.
"""

MAX_MEMORY_BYTES = 4 * 2**30
"""Maximum number of bytes of address space of the process. An allocation that would exceed it raises `MemoryError`."""

NICENESS = 10
"""Increment of the process's niceness.

It keeps the process from delaying the event loop that sends and times requests.
"""


def main() -> None:
    """Read requests, pass them on to the child, and answer each request with (kind, value).

    The first request is None, or a function that imports the dependencies of the later requests. The process
    ends when either pipe is closed. It ignores Ctrl-C, which is handled by the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    os.nice(NICENESS)
    _bound_memory()
    requests = sys.stdin.buffer
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # printed output must not mix with the answers
    _CHILD.private = (requests.fileno(), answers.fileno())
    while (request := receive_message(requests)) is not None:
        try:
            send_message(answers, _CHILD.ask(request))
        except BrokenPipeError:
            _end()
    _CHILD.end()


def send_message(pipe: BinaryIO, message: bytes) -> None:
    """Write a message, preceded by its length."""
    pipe.write(len(message).to_bytes(HEADER_BYTES, "big") + message)
    pipe.flush()


def receive_message(pipe: BinaryIO) -> bytes | None:
    """Read a message. Return None if the pipe ends before the message is complete."""
    header = pipe.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    size = int.from_bytes(header, "big")
    message = pipe.read(size)
    return message if len(message) == size else None


class _Child:
    """The child process that calls the functions.

    It is forked when it is first needed, and again whenever it has ended.
    """

    def __init__(self) -> None:
        self.pid = 0
        self.private: tuple[int, ...] = ()
        """File descriptors of this process that the child closes.

        If they stayed open in the child, they would outlive this process.
        """

        self._prepared = False

    def ask(self, request: bytes) -> bytes:
        """Return the encoded answer to a request.

        The first request is executed in this process, before there is a child.
        """
        if not self._prepared:
            self._prepared = True
            return _answer(request)
        if not self.pid:
            with suppress(Exception):
                pickle.loads(request)  # imports the function's module before the fork
            self._fork()
        with suppress(BrokenPipeError):
            send_message(self._requests, request)
        answer = receive_message(self._answers)
        if answer is not None:
            return answer
        _, status = os.waitpid(self.pid, 0)
        self._close()
        return pickle.dumps((ENDED, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0))

    def end(self) -> None:
        """Kill the child, whatever it is doing. Do nothing if there is no child."""
        if self.pid:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            self._close()

    def _close(self) -> None:
        self.pid = 0
        with suppress(BrokenPipeError):
            self._requests.close()
        self._answers.close()

    def _fork(self) -> None:
        theirs, requests = os.pipe()
        answers, ours = os.pipe()
        pid = os.fork()
        if not pid:
            for file in (requests, answers, *self.private):
                os.close(file)
            _serve(theirs, ours)
        os.close(theirs)
        os.close(ours)
        self.pid = pid
        self._requests, self._answers = os.fdopen(requests, "wb"), os.fdopen(answers, "rb")


_CHILD = _Child()


def _serve(requests: int, answers: int) -> NoReturn:
    """Answer requests until the pipe ends, then exit without the parent's exit handlers."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(BaseException), os.fdopen(requests, "rb") as asked, os.fdopen(answers, "wb") as told:
        while (request := receive_message(asked)) is not None:
            send_message(told, _answer(request))
    os._exit(0)


def _answer(request: bytes) -> bytes:
    """Call the function of a request. The kernel ends this process if the call exceeds its CPU time."""
    try:
        function, args, seconds = pickle.loads(request)
        if seconds is not None:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        value = None if function is None else function(*args)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return pickle.dumps((VALUE, value), pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # raised in the process that sent the request
        signal.setitimer(signal.ITIMER_PROF, 0)
        return _failure(error)


def _failure(error: Exception) -> bytes:
    """Return an encoded error: the error itself if it can be pickled.

    Otherwise return a RuntimeError with its text.
    """
    try:
        encoded = pickle.dumps((ERROR, error), pickle.HIGHEST_PROTOCOL)
        pickle.loads(encoded)
    except Exception:
        told: Any = RuntimeError(f"{type(error).__name__}: {error}")
        return pickle.dumps((ERROR, told), pickle.HIGHEST_PROTOCOL)
    return encoded


def _bound_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MAX_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MAX_MEMORY_BYTES, hard)
    with suppress(OSError, ValueError):  # macOS refuses such limits
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _end(*_: object) -> NoReturn:
    """End this process and its child at once."""
    _CHILD.end()
    os._exit(1)


if __name__ == "__main__":
    main()
