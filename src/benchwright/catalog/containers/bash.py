"""Commands in one container, as in one terminal: the directory and exported variables stay from one to the next."""

from __future__ import annotations

from benchwright.records import Record
from benchwright.sandbox.docker import Executed, Sandbox
from benchwright.sandbox.docker.commands import Reason

KEPT_BYTES = 16 * 1024
"""Bytes of a command's output that are kept, for the model and for the record: its first and its last ones."""

STATE = "/tmp/.benchwright-shell"

_SETUP = f"""
mkdir -p {STATE} && cat > {STATE}/run <<'END_OF_SESSION'
[ -f {STATE}/exports ] && . {STATE}/exports
[ -f {STATE}/directory ] && cd "$(cat {STATE}/directory)"
trap 'export -p > {STATE}/exports; pwd > {STATE}/directory' EXIT
. {STATE}/command
END_OF_SESSION
"""

_COMMAND = (
    f"cat > {STATE}/command && shell=$(command -v bash || command -v sh) && "
    f'exec "$shell" {STATE}/run </dev/null 2>&1'
)


class CommandRecord(Record, frozen=True):
    """One command and what came of it.

    `output` is stdout and stderr as they came, its middle left out where it was long (`cut` bytes). `ended` is
    `exited`, or the limit that ended the command. `exit_code` is None where its container ended with it.
    """

    command: str
    output: str = ""
    exit_code: int | None = None
    ended: Reason = "exited"
    seconds: float = 0.0
    cut: int = 0

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself with exit code 0."""
        return self.ended == "exited" and self.exit_code == 0


class BashSession:
    """A terminal in a sandbox, by bash where the image has it and sh otherwise; no command can read input.

    `commands` is the transcript. What a command leaves in the background goes on; functions, aliases and variables
    that are not exported end with it, and so does what a command that a limit ended had changed.
    """

    def __init__(self, sandbox: Sandbox, kept_bytes: int = KEPT_BYTES) -> None:
        self.sandbox = sandbox
        self.commands: list[CommandRecord] = []
        self._kept_bytes = kept_bytes
        self._ready = False

    async def run(self, command: str, seconds: float) -> CommandRecord:
        """Runs a command, and notes it in the transcript.

        Raises:
            EngineError: the engine does not answer, or the session cannot be set up.
        """
        if not self._ready:
            await self.sandbox.run(["sh", "-c", _SETUP], seconds=30)
            self._ready = True
        ended = await self.sandbox.run(
            ["sh", "-c", _COMMAND],
            seconds=seconds,
            stdin=command.encode("utf-8", "replace") + b"\n",
            kept_bytes=self._kept_bytes,
        )
        record = _record(command, ended)
        self.commands.append(record)
        return record


def _record(command: str, ended: Executed) -> CommandRecord:
    output = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    return CommandRecord(
        command, output, ended.exit_code, ended.reason, round(ended.seconds, 3), ended.stdout_cut
    )
