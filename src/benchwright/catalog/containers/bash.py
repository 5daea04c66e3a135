"""Commands in one container, as in one terminal: the directory and exported variables stay from one to the next."""

from __future__ import annotations

from secrets import token_hex

from benchwright.records import Record
from benchwright.sandbox.docker import ExecResult, Sandbox
from benchwright.sandbox.docker.commands import Reason

KEPT_BYTES = 16 * 1024
"""Bytes of a command's output that are kept, for the model and for the record: its first and its last ones."""

STATE = "/dev/shm/.benchwright"
"""Where the agent's terminal keeps its state: in memory, which every container has, whatever its image and its user."""

_START = """
mkdir -p "$2"
shell=$(command -v bash || command -v sh)
state=$2
set -- "$shell" -c "$1" "${shell##*/}" "$state"
[ -f "$state/exports" ] && set -- env -i "PATH=$PATH" "$@"
exec "$@"
"""
"""After the first command the exports are the whole environment, so that what it unset stays unset."""

_RUN = (
    'set -- "$(cat)" "$1"; exec </dev/null 2>&1; '
    '[ -f "$2/directory" ] && cd "$(cat "$2/directory")"; '
    '[ -f "$2/exports" ] && . "$2/exports"; '
    """trap "pwd >'$2/directory'; export -p >'$2/new' && command -p mv '$2/new' '$2/exports'" EXIT; """
    'eval "shift 2; $1"'
)
"""One line, so that the lines which the shell's messages name are those of the command."""


class CommandRecord(Record, frozen=True):
    """One command and what came of it.

    `output` is stdout and stderr as they came, its middle left out where it was long (`cut` bytes). `ended` is
    `exited`, or the limit that ended the command; where its container ended with it, `container_ended` is set.
    """

    command: str
    output: str = ""
    exit_code: int | None = None
    ended: Reason = "exited"
    seconds: float = 0.0
    cut: int = 0
    container_ended: bool = False

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.ended == "exited" and self.exit_code == 0


class BashSession:
    """A terminal in a sandbox, by bash where the image has it and sh otherwise; no command can read input.

    Sessions with the same `state`, which lies in a folder, are one terminal. One that is `apart` begins where the image
    does, with its environment, whatever others did.
    `commands` is the transcript. What a command leaves in the background goes on; functions, aliases and variables
    that are not exported end with it.
    """

    def __init__(
        self, sandbox: Sandbox, kept_bytes: int = KEPT_BYTES, *, apart: bool = False, state: str = STATE
    ) -> None:
        self.sandbox = sandbox
        self._state = another_state() if apart else state
        self.commands: list[CommandRecord] = []
        self._kept_bytes = kept_bytes

    async def run(self, command: str, seconds: float) -> CommandRecord:
        """Runs a command, and notes it in the transcript.

        Raises:
            EngineError: the engine does not answer, or the container was ended by somebody else.
        """
        ended = await self.sandbox.run(
            ["sh", "-c", _START, "sh", _RUN, self._state],
            seconds=seconds,
            stdin=command.encode("utf-8", "replace") + b"\n",
            kept_bytes=self._kept_bytes,
        )
        record = _record(command, ended)
        self.commands.append(record)
        return record


def another_state() -> str:
    """A folder for the state of a terminal of its own."""
    return f"{STATE}-{token_hex(8)}"


def _record(command: str, ended: ExecResult) -> CommandRecord:
    return CommandRecord(
        command,
        output=(ended.stdout + ended.stderr).decode("utf-8", "replace"),
        exit_code=ended.exit_code,
        ended=ended.reason,
        seconds=round(ended.seconds, 3),
        cut=ended.stdout_cut + ended.stderr_cut,
        container_ended=ended.container_ended,
    )
