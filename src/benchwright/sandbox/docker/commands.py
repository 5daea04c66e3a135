"""Commands to run in a container, and the results of such commands."""

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
"""Reason why a program ended: by itself (`exited`), or because of the limit that is named."""


class ExecResult(Record, frozen=True):
    """The end and the output of a program in a container.

    `container_ended`: True if the container ended, too; `exit_code` is then None. For a program ended by a
    signal, `exit_code` is 128 plus the signal's number. `stdout`, `stderr`: the beginning and the end of the
    output, with a mark between the two if bytes are missing. `stdout_omitted_bytes`, `stderr_omitted_bytes`:
    the number of missing bytes. `detail`: a further explanation, or None.
    """

    reason: EndReason
    exit_code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    stdout_omitted_bytes: int = 0
    stderr_omitted_bytes: int = 0
    seconds: float = 0.0
    detail: str | None = None
    container_ended: bool = False

    @property
    def succeeded(self) -> bool:
        """True if the program ended by itself with exit code 0.

        Any program can do that, so it proves nothing about the program's work.
        """
        return self.reason == "exited" and self.exit_code == 0

    @property
    def error_line(self) -> str:
        """The last line of stderr. If stderr is empty, the reason why the program ended."""
        why = self.detail or f"{self.reason}, exit code {self.exit_code}"
        return last_line(self.stderr.decode("utf-8", "replace"), MAX_ERROR_LENGTH) or why


class ContainerCommand(Record, frozen=True):
    """A program to run in a container, and its limits.

    `kept_bytes`: the number of bytes kept of stdout, and also of stderr. `output_bytes`: a program that
    writes more bytes is ended. `cwd`, `user`: if empty, the container's own working folder or user.
    """

    argv: Sequence[str]
    seconds: float
    stdin: bytes = b""
    cwd: str = ""
    user: str = ""
    environment: Mapping[str, str] = {}
    kept_bytes: int = MAX_KEPT_BYTES
    output_bytes: int = MAX_OUTPUT_BYTES
