"""The terminal in the container: a tmux session that types keys and reads the screen."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from benchwright.catalog.containers.bash_session import STATE_DIRECTORY
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import ExecResult, Sandbox
from benchwright.sandbox.docker.commands import EndReason

WIDTH, HEIGHT = 160, 40
TMUX_SECONDS = 60.0
"""Time limit in seconds for one tmux call. It takes milliseconds unless the container lacks memory or processors."""
MAX_READ_BYTES = 8 * 1024 * 1024
MAX_ARGUMENT_LENGTH = 12_000
"""Maximum number of bytes of keys that are passed to tmux as an argument (tmux's limit is 16 kB).

Longer keys are pasted.
"""

NEW, SCREEN = "New output of the terminal:", "The terminal's screen:"

_START = """
shell=$(command -v bash || command -v sh)
export TERM=xterm-256color SHELL="$shell"
[ "${shell##*/}" = bash ] && login=--login || login=-l
exec "$@" sh -c 'unset LOCPATH; exec "$@"' sh "$shell" "$login"
"""


class ContainerEnded(Exception):
    """The error that the container has ended, and the terminal with it.

    `reason`: the limit that ended the container.
    """

    def __init__(self, reason: EndReason) -> None:
        super().__init__(reason)
        self.reason: EndReason = reason


class Terminal:
    """A login shell in tmux, in a sandbox. `tmux`: the words of the command that starts tmux there.

    The scroll-back is tmux's default of 2,000 lines. The shell and its programs keep running between calls.

    Every method raises `ContainerEnded` if the container ends, and EngineError if the engine does not
    respond.
    """

    def __init__(self, sandbox: Sandbox, tmux: Sequence[str]) -> None:
        self._sandbox = sandbox
        self._tmux = [*tmux, "-S", f"{STATE_DIRECTORY}-terminal-{token_hex(6)}", "-f", "/dev/null"]
        self._before: str | None = None

    async def start(self) -> None:
        """Open the terminal.

        Raises:
            ExecutionError: If tmux cannot be started in this container.
        """
        opened = [*self._tmux, "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-s", "main"]
        ended = await self._run(["sh", "-c", _START, "sh", *opened])
        if not ended.succeeded:
            raise ExecutionError(f"The terminal cannot be started in the container: {ended.error_line}")

    async def is_open(self) -> bool:
        """Return True if the shell is still running."""
        return (await self._do("has-session", "-t", "main")).succeeded

    async def type_keys(self, keystrokes: str) -> None:
        """Type keys: the name of a special key (`C-c`, `Enter`), or any text.

        Do nothing if the shell has ended.
        """
        keystrokes = keystrokes.encode("utf-8", "replace").decode().replace("\0", "")
        if len(keystrokes.encode()) <= MAX_ARGUMENT_LENGTH:
            if keystrokes:
                await self._do("send-keys", "-t", "main", "--", keystrokes)
            return
        buffer = token_hex(4)
        await self._do("load-buffer", "-b", buffer, "-", stdin=keystrokes.encode())
        await self._do("paste-buffer", "-d", "-b", buffer, "-t", "main")

    async def read_new_output(self) -> str:
        """Return the output since the last call, from the line with the prompt on.

        If this output is unknown or empty, return the screen.
        """
        everything = await self._read("-S", "-")
        before, self._before = self._before, everything
        new = None if before is None else find_new_output(before, everything)
        if new is None or not new.strip():
            return f"{SCREEN}\n{await self.read_screen()}"
        return f"{NEW}\n{new}"

    async def read_screen(self) -> str:
        """Return the text on the screen."""
        return await self._read()

    async def _read(self, *options: str) -> str:
        return (await self._do("capture-pane", "-p", *options, "-t", "main")).stdout.decode(
            "utf-8", "replace"
        )

    async def _do(self, *words: str, stdin: bytes = b"") -> ExecResult:
        return await self._run([*self._tmux, *words], stdin)

    async def _run(self, argv: Sequence[str], stdin: bytes = b"") -> ExecResult:
        ended = await self._sandbox.run(argv, seconds=TMUX_SECONDS, stdin=stdin, kept_bytes=MAX_READ_BYTES)
        if ended.container_ended:
            raise ContainerEnded(ended.reason)
        return ended


def find_new_output(before: str, now: str) -> str | None:
    """Return the part of `now` that comes after `before`, starting with the last line of `before`.

    Return None if `now` does not contain `before`.
    """
    known = before.strip()
    start = now.find(known)
    if start < 0:
        return None
    return now[start + known.rfind("\n") + 1 :]
