"""What a program in the sandbox may use, and how it ended."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record

MiB = 1024 * 1024


class Limits(Record, frozen=True):
    """What one program, with all the processes it starts, may use.

    `wall_seconds` count from the program's start, not from the sandbox's. `cpu_seconds` and `memory_bytes`
    bind each process by itself (private writable memory); memory is also bounded for all of them together,
    looked at twenty times a second. `file_bytes` is the largest file, `disk_bytes` all that can be written
    where the protection can bound it. Of stdout and of stderr `kept_bytes` are kept, half from the head and half from
    the tail; a program that writes more than `output_bytes` is ended. `line_bytes` is the longest line of
    a long-lived process.
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


Reason = Literal["exited", "killed", "timeout", "cpu", "memory", "output", "lost"]
"""Why a program ended: by itself (`exited`), by a signal that is not a limit's (`killed`), by a limit, or with its
supervisor (`lost`: the machine, or under weak protections the program itself, killed that)."""


class ProgramResult(Record, frozen=True):
    """How a program ended.

    `exit_code` is None where a signal ended it, `signal` where none did. `stdout` and `stderr` are what was
    kept; where `stdout_cut` or `stderr_cut` is not 0, so many bytes are missing at the mark in the middle.
    `seconds` is the time from the program's start to its end.
    """

    reason: Reason
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_cut: int = 0
    stderr_cut: int = 0
    seconds: float = 0.0

    @property
    def succeeded(self) -> bool:
        """Whether the program ended by itself with exit code 0. Any program can do so: no proof that it worked."""
        return self.reason == "exited" and self.exit_code == 0
