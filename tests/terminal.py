"""`benchwright` on a pseudo-terminal: what arrives there, byte for byte."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import termios
from collections.abc import Sequence
from typing import NamedTuple

from tests.app.app_kit import Program
from tests.programs import start_benchwright


class Shown(NamedTuple):
    """The exit code of a command, and what it wrote to its terminal."""

    code: int
    text: str


def on_a_terminal(
    program: Program, arguments: Sequence[str], *, columns: int = 400, timeout: float = 60
) -> Shown:
    """Runs a command to its end with all three streams on one terminal of that width."""
    environment = {**program.environment, "TERM": "xterm-256color"}
    for told_elsewhere in ("COLUMNS", "LINES"):
        environment.pop(told_elsewhere, None)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    try:
        process = start_benchwright(
            arguments,
            environment=environment,
            directory=program.directory,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
    finally:
        os.close(theirs)
    pieces = []
    with process, open(ours, "rb", buffering=0) as terminal:
        while piece := _read(terminal.fileno()):
            pieces.append(piece)
        code = process.wait(timeout)
    return Shown(code, b"".join(pieces).decode(errors="surrogateescape"))


def _read(terminal: int) -> bytes:
    """What is there next; nothing where the last process has left the terminal."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""
