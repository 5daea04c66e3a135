"""Limits of a sandboxed program, and its result."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record

MiB = 1024 * 1024


class Limits(Record, frozen=True):
    """Limits of one program, including all processes that it starts.

    `wall_seconds` count from the program's start, not from the sandbox's. `cpu_seconds` and `memory_bytes`
    apply to each process (private writable memory). The memory of all processes together is also bounded; it
    is checked twenty times a second. `file_bytes` is the largest file, `disk_bytes` the total that can be
    written, if the protection can limit it. Of stdout and of stderr, `kept_bytes` are kept, half from the
    beginning and half from the end. A program that writes more than `output_bytes` is ended. `line_bytes` is
    the longest line of a long-lived process.
    """

    wall_seconds: float = 10.0
    cpu_seconds: int = 10
    memory_bytes: int = 512 * MiB
    processes: int = 32
    open_files: int = 256
    file_bytes: int = 32 * MiB
    disk_bytes: int = 64 * MiB
    kept_bytes: int = 64 * 1024
    output_bytes: int = 16 * MiB
    line_bytes: int = 4 * MiB


EndReason = Literal["exited", "killed", "timeout", "cpu", "memory", "output", "lost"]
"""Why a program ended.

By itself (`exited`), by a signal not caused by a limit (`killed`), by a limit, or with its supervisor
(`lost`: the machine, or under weak protections the program itself, killed the supervisor).
"""


class SandboxResult(Record, frozen=True):
    """How a program ended, and its output.

    `exit_code` is None if a signal ended the program; otherwise `signal` is None. `stdout` and `stderr` are
    the beginning and the end of the output, with a mark where `stdout_cut` and `stderr_cut` bytes are
    missing. `seconds` is the time from the program's start to its end.
    """

    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_cut: int = 0
    stderr_cut: int = 0
    seconds: float = 0.0

    @property
    def succeeded(self) -> bool:
        """True if the program ended by itself with exit code 0.

        Any program can do that; it proves nothing.
        """
        return self.reason == "exited" and self.exit_code == 0
