"""Limits of a sandboxed program, and the program's result."""

from __future__ import annotations

from typing import Literal

from benchwright.records import Record

MiB = 1024 * 1024


class Limits(Record, frozen=True):
    """Limits of one program, including all processes that it starts.

    `wall_seconds`: counted from the start of the program, not of the sandbox. `cpu_seconds`, `memory_bytes`:
    limits for each process (for memory: private writable memory). The memory of all processes together also
    has a limit, which is checked twenty times a second. `file_bytes`: the size of the largest file.
    `disk_bytes`: the total that can be written, if the protection can limit it. `kept_bytes`: the number of
    bytes kept of stdout, and also of stderr, half from the beginning and half from the end. `output_bytes`: a
    program that writes more is ended. `line_bytes`: the length of the longest line of a long-lived process.
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
"""Reason why a program ended.

It ended by itself (`exited`), by a signal that no limit caused (`killed`), by the named limit, or with its
supervisor (`lost`). A supervisor is killed by the machine or, under weak protections, by the program itself.
"""


class SandboxResult(Record, frozen=True):
    """How a program ended, and its output.

    `exit_code`: None if a signal ended the program. `signal`: None if the program ended by itself. `stdout`,
    `stderr`: the beginning and the end of the output, with a mark between the two if bytes are missing.
    `stdout_omitted_bytes`, `stderr_omitted_bytes`: the number of missing bytes. `seconds`: the time from the
    program's start to its end.
    """

    reason: EndReason
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_omitted_bytes: int = 0
    stderr_omitted_bytes: int = 0
    seconds: float = 0.0

    @property
    def succeeded(self) -> bool:
        """True if the program ended by itself with exit code 0.

        Any program can do that, so it proves nothing about the program's work.
        """
        return self.reason == "exited" and self.exit_code == 0
