"""The terminal in the container: a session of tmux, typed into and read."""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex

from benchwright.catalog.containers.bash import STATE
from benchwright.errors import ExecutionError
from benchwright.sandbox.docker import ExecResult, Sandbox
from benchwright.sandbox.docker.commands import Reason

WIDTH, HEIGHT = 160, 40
SECONDS = 60.0
"""What one call of tmux may take: it answers within milliseconds unless the container is short of everything."""
MOST_READ = 8 * 1024 * 1024
LONGEST_ARGUMENT = 12_000
"""Bytes of keys that are given to tmux as an argument; longer ones are pasted. It takes 16 kB at most."""

NEW, SCREEN = "New output of the terminal:", "The terminal's screen:"

_START = """
shell=$(command -v bash || command -v sh)
export TERM=xterm-256color SHELL="$shell"
[ "${shell##*/}" = bash ] && login=--login || login=-l
exec "$@" sh -c 'unset LOCPATH; exec "$@"' sh "$shell" "$login"
"""


class ContainerEnded(Exception):
    """The container ended with the terminal in it; `reason` is the limit that did it."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


class Terminal:
    """A login shell in tmux; `tmux` are the words that start the program in the sandbox.

    Its history is that of tmux by default, 2,000 lines. What the shell and its programs do goes on between calls.

    Every method raises `ContainerEnded`, and EngineError where the engine does not answer.
    """

    def __init__(self, sandbox: Sandbox, tmux: Sequence[str]) -> None:
        self._sandbox = sandbox
        self._tmux = [*tmux, "-S", f"{STATE}-terminal-{token_hex(6)}", "-f", "/dev/null"]
        self._before: str | None = None

    async def start(self) -> None:
        """Opens it.

        Raises:
            ExecutionError: tmux cannot be started in this container.
        """
        opened = [*self._tmux, "new-session", "-d", "-x", str(WIDTH), "-y", str(HEIGHT), "-s", "main"]
        ended = await self._run(["sh", "-c", _START, "sh", *opened])
        if not ended.succeeded:
            raise ExecutionError(f"The terminal cannot be started in the container: {ended.complaint}")

    async def is_open(self) -> bool:
        """Whether its shell still runs."""
        return (await self._do("has-session", "-t", "main")).succeeded

    async def type(self, keystrokes: str) -> None:
        """Types keys: the name of a special one (`C-c`, `Enter`), or any text. A terminal that is closed takes none."""
        keystrokes = keystrokes.encode("utf-8", "replace").decode().replace("\0", "")
        if len(keystrokes.encode()) <= LONGEST_ARGUMENT:
            if keystrokes:
                await self._do("send-keys", "-t", "main", "--", keystrokes)
            return
        buffer = token_hex(4)
        await self._do("load-buffer", "-b", buffer, "-", stdin=keystrokes.encode())
        await self._do("paste-buffer", "-d", "-b", buffer, "-t", "main")

    async def news(self) -> str:
        """What came since it was read last, from the line of the prompt on; the screen, where that cannot be told."""
        everything = await self._read("-S", "-")
        before, self._before = self._before, everything
        new = None if before is None else new_part(before, everything)
        if new is None or not new.strip():
            return f"{SCREEN}\n{await self.screen()}"
        return f"{NEW}\n{new}"

    async def screen(self) -> str:
        """What is to be seen."""
        return await self._read()

    async def _read(self, *options: str) -> str:
        return (await self._do("capture-pane", "-p", *options, "-t", "main")).stdout.decode(
            "utf-8", "replace"
        )

    async def _do(self, *words: str, stdin: bytes = b"") -> ExecResult:
        return await self._run([*self._tmux, *words], stdin)

    async def _run(self, argv: Sequence[str], stdin: bytes = b"") -> ExecResult:
        ended = await self._sandbox.run(argv, seconds=SECONDS, stdin=stdin, kept_bytes=MOST_READ)
        if ended.container_ended:
            raise ContainerEnded(ended.reason)
        return ended


def new_part(before: str, now: str) -> str | None:
    """What `now` has beyond `before`, from the last line of that on; None where `before` is not in it any more."""
    known = before.strip()
    start = now.find(known)
    if start < 0:
        return None
    return now[start + known.rfind("\n") + 1 :]
