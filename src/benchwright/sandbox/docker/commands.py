"""Programs to run in a container, and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from benchwright.records import Record
from benchwright.sandbox.docker.containers import MiB
from benchwright.text import last_line

KEPT_BYTES = 64 * 1024
OUTPUT_BYTES = 16 * MiB
LONGEST_COMPLAINT = 300

Reason = Literal["exited", "timeout", "output", "memory", "disk"]
"""Why a program ended: by itself, or by a limit."""


class ExecResult(Record, frozen=True):
    """How a program in a container ended.

    With `container_ended` its container ended too, and `exit_code` is None; of what a signal ended it is 128 and the
    signal's number.
    `stdout` and `stderr` are what was kept, head and tail; so many bytes as `stdout_cut` and `stderr_cut` say
    are missing at the mark between them. `detail` says more where there is more to say.
    """

    reason: Reason
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
        """Whether the program ended by itself with exit code 0. Any program can do so: no proof that it worked."""
        return self.reason == "exited" and self.exit_code == 0

    @property
    def complaint(self) -> str:
        """The last line of stderr, or where it is empty why the program ended."""
        why = self.detail or f"{self.reason}, exit code {self.exit_code}"
        return last_line(self.stderr.decode("utf-8", "replace"), LONGEST_COMPLAINT) or why


class Command(Record, frozen=True):
    """A program to run, and its limits.

    Of stdout and of stderr `kept_bytes` are kept; a program that writes more than `output_bytes` is ended. `cwd` and
    `user` are the container's own where they are empty.
    """

    argv: Sequence[str]
    seconds: float
    stdin: bytes = b""
    cwd: str = ""
    user: str = ""
    environment: Mapping[str, str] = {}
    kept_bytes: int = KEPT_BYTES
    output_bytes: int = OUTPUT_BYTES
