"""Runs commands in a container as in one terminal: working directory and exported variables persist."""

from __future__ import annotations

from secrets import token_hex

from benchwright.records import Record
from benchwright.sandbox.docker import ExecResult, Sandbox
from benchwright.sandbox.docker.commands import EndReason

MAX_OUTPUT_BYTES = 16 * 1024
"""Maximum number of bytes that are kept of a command's output, for the model and for the record.

They are the output's start and end.
"""

STATE_DIRECTORY = "/dev/shm/.benchwright"
"""Directory for the state of the agent's terminal. It is in memory. Every container has it, for any user."""

_START = """
mkdir -p "$2"
shell=$(command -v bash || command -v sh)
state=$2
set -- "$shell" -c "$1" "${shell##*/}" "$state"
[ -f "$state/exports" ] && set -- env -i "PATH=$PATH" "$@"
exec "$@"
"""
"""Shell script that restores the terminal's state.

The exported variables replace the environment, so that unset variables stay unset.
"""

_RUN = (
    'set -- "$(cat)" "$1"; exec </dev/null 2>&1; '
    '[ -f "$2/directory" ] && cd "$(cat "$2/directory")"; '
    '[ -f "$2/exports" ] && . "$2/exports"; '
    """trap "pwd >'$2/directory'; export -p >'$2/new' && command -p mv '$2/new' '$2/exports'" EXIT; """
    'eval "shift 2; $1"'
)
"""Shell script that runs a command. It is one line, so that the shell reports the command's own line numbers."""


class CommandRecord(Record, frozen=True):
    """One command and its result.

    - `output`: stdout and stderr, interleaved as printed. `cut`: number of bytes left out of the middle of
      the output.
    - `ended`: `exited`, or the limit that ended the command.
    - `container_ended`: True if the container ended together with the command.
    """

    command: str
    output: str = ""
    exit_code: int | None = None
    ended: EndReason = "exited"
    seconds: float = 0.0
    cut: int = 0
    container_ended: bool = False

    @property
    def succeeded(self) -> bool:
        """True if the command exited by itself with code 0."""
        return self.ended == "exited" and self.exit_code == 0


class BashSession:
    """A terminal in a sandbox: bash if the image has bash, else sh. Commands cannot read input.

    Background processes keep running after their command. Functions, aliases and variables that are not
    exported are lost when the command ends. `commands` is the transcript.

    `state`: the directory for the terminal's state. Sessions with the same directory share a terminal.
    `apart`: True to start the session with the image's directory and environment, whatever other sessions
    did.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        kept_bytes: int = MAX_OUTPUT_BYTES,
        *,
        apart: bool = False,
        state: str = STATE_DIRECTORY,
    ) -> None:
        self.sandbox = sandbox
        self._state = new_state_directory() if apart else state
        self.commands: list[CommandRecord] = []
        self._kept_bytes = kept_bytes

    async def run(self, command: str, seconds: float) -> CommandRecord:
        """Run a command for at most `seconds`, add its record to the transcript and return it.

        Raises:
            EngineError: If the engine does not respond, or the container was ended from outside.
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


def new_state_directory() -> str:
    """Return a new state directory, for a terminal that shares nothing with other sessions."""
    return f"{STATE_DIRECTORY}-{token_hex(8)}"


def _record(command: str, ended: ExecResult) -> CommandRecord:
    return CommandRecord(
        command,
        output=(ended.stdout + ended.stderr).decode("utf-8", "replace"),
        exit_code=ended.exit_code,
        ended=ended.reason,
        seconds=round(ended.seconds, 3),
        cut=ended.stdout_omitted_bytes + ended.stderr_omitted_bytes,
        container_ended=ended.container_ended,
    )
