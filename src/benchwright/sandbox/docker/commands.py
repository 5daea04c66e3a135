"""Commands to run in a container, and their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from benchwright.records import Record
from benchwright.sandbox.docker.containers import MiB
from benchwright.text import last_line

MAX_KEPT_BYTES = 64 * 1024
MAX_OUTPUT_BYTES = 16 * MiB
MAX_ERROR_LENGTH = 300

EndReason = Literal["exited", "timeout", "output", "memory", "disk"]
"""Why a program ended: by itself or by a limit."""


class ExecResult(Record, frozen=True):
    """The end and the output of a program in a container.

    If `container_ended`, the container ended too and `exit_code` is None. For a program ended by a signal,
    `exit_code` is 128 plus the signal's number. `stdout` and `stderr` are the beginning and the end of the
    output, with a mark where `stdout_cut` and `stderr_cut` bytes are missing. `detail` is a further
    explanation, if any.
    """

    reason: EndReason
    exit_code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_cut: int = 0
    stderr_cut: int = 0
    seconds: float = 0.0
    detail: str | None = None
    container_ended: bool = False

    @property
    def succeeded(self) -> bool:
        """True if the program ended by itself with exit code 0.

        Any program can do that; it proves nothing.
        """
        return self.reason == "exited" and self.exit_code == 0

    @property
    def error_line(self) -> str:
        """The last line of stderr, or the reason why the program ended if stderr is empty."""
        why = self.detail or f"{self.reason}, exit code {self.exit_code}"
        return last_line(self.stderr.decode("utf-8", "replace"), MAX_ERROR_LENGTH) or why


class Command(Record, frozen=True):
    """A program to run, and its limits.

    `kept_bytes`: how much of stdout, and of stderr, is kept. `output_bytes`: a program that writes more is
    ended. If `cwd` or `user` is empty, the container's own is used.
    """

    argv: Sequence[str]
    seconds: float
    stdin: bytes = b""
    cwd: str = ""
    user: str = ""
    environment: Mapping[str, str] = {}
    kept_bytes: int = MAX_KEPT_BYTES
    output_bytes: int = MAX_OUTPUT_BYTES
