"""The forked child: gives up the supervisor's privileges, and then becomes or executes the program."""

from __future__ import annotations

import os
import resource
import signal
import sys
import types
from typing import Any, NoReturn

from . import seccomp, system

TOKEN_BYTES = 16
PASSED = b"passed"
MOST_SAID = 2000
"""Maximum length in bytes of the message of an exception in a report."""


def confine(work: dict[str, Any]) -> None:
    """Apply the limits, the user id and the system call filter to this process, irrevocably.

    `work`: the message described in `launch.py`.
    """
    os.chdir(work["directory"])
    for name, most in work["limits"].items():
        limit = getattr(resource, name)
        allowed = resource.getrlimit(limit)[1]
        soft, hard = (m if allowed == resource.RLIM_INFINITY else min(m, allowed) for m in most)
        resource.setrlimit(limit, (soft, hard))
    if work["user"] is not None:
        os.setgroups([])
        os.setresgid(work["user"], work["user"], work["user"])
        os.setresuid(work["user"], work["user"], work["user"])
    system.drop_capabilities()
    system.prctl(system.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.restrict(network=work["own_network"])
    for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def attempt(program: bytes, paths: list[str], token: int, tell: int) -> NoReturn:
    """Execute a Python program in this process, and report the outcome once, at the program's end.

    The program has passed only if the supervisor reads exactly the token and `PASSED` from `tell`, in one
    read. The token is created after the fork, comes through a pipe, and waits on the interpreter's evaluation
    stack. No variable, frame, container or open file that the program could search leads to the token.
    """
    # The program could replace any of these in their modules.
    read, write, leave, run, everything = os.read, os.write, os._exit, exec, BaseException
    describe, end_streams = _describe, _end_streams
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.path.extend(paths)
    sys.stdin = _NoInput()
    for name in [name for name in sys.modules if name.split(".")[0] == "inside"]:
        del sys.modules[name]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        code = compile(program, "<program>", "exec", dont_inherit=True)
        # The left operand of + is evaluated before the right one runs, and exec returns None.
        write(tell, read(token, TOKEN_BYTES) + (run(code, {}) or end_streams() or PASSED))
    except everything as error:
        write(tell, describe(error))
        end_streams()
        leave(1)
    leave(0)


def _describe(error: BaseException) -> bytes:
    try:
        said = str(error)
        text = f"{type(error).__name__}: {said}" if said else type(error).__name__
        return text.encode("utf-8", "replace")[:MOST_SAID]
    except BaseException:
        return b"an exception that cannot be shown"


def _end_streams() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass


class _NoInput:
    """Replacement for stdin. Reading raises an error, as in the official HumanEval harness."""

    encoding = "utf-8"

    def read(self, *_: object) -> str:
        raise OSError("the program may not read from stdin")

    readline = readlines = __iter__ = __next__ = fileno = read

    def readable(self) -> bool:
        return False

    def isatty(self) -> bool:
        return False
