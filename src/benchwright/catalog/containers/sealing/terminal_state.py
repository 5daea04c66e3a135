"""State of the agent's terminal, which tests take over if they run in it: directory and exported variables.

Some variables affect how tests run: the search path for programs, files that are read when programs start,
and the container's own variables, which state where the tests are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import cast

from benchwright.catalog.containers.bash_session import STATE_DIRECTORY, new_state_directory
from benchwright.catalog.containers.sealing.called_programs import find_visible_path
from benchwright.records import Record
from benchwright.sandbox.docker import Sandbox

READ_SECONDS = 30.0
MAX_STATE_BYTES = 1024 * 1024
"""Maximum number of bytes that are read from a terminal's state."""
PATH_VARIABLE = "PATH"

_READ = 'cat "$1/$2"'
_WRITE = 'mkdir -p "$1" && cat >"$1/$2" && chmod -R a+rwX "$1"'
_NAME = re.compile(r"\s*(?:declare -\w*x\w*|export)[ \t]+([A-Za-z_]\w*)(=?)")
_PIECE = re.compile(
    r"""\$?"((?:[^"\\$`]|\\.)*)"|\$'((?:[^'\\]|\\.)*)'|'([^']*)'|\\(.)|([^\s"'\\$`;&|()<>]+)""", re.DOTALL
)
_ESCAPED = re.compile(r'\\(["\\$`])|\\\n')
_IN_QUOTES = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_BYTES = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t",
          b"v": b"\v"}  # fmt: skip
_STARTS_PROGRAMS = re.compile(
    r"BASH_ENV|ENV|PYTHON\w*|PYTEST\w*|PY_\w+|LD_\w+|BASH_FUNC_.*|NODE_\w+|PERL5\w*|RUBY\w*|JAVA_TOOL_OPTIONS"
    r"|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|GIT_\w+|PIP_\w+|UV_\w+|NPM_\w+|npm_\w+|SHELLOPTS|BASHOPTS|GLOBIGNORE"
    r"|CDPATH|IFS|PS4|PROMPT_COMMAND|GREP_\w+|TAR_OPTIONS|MAKEFLAGS|MAKEFILES|CC|CXX|LANGUAGE|COVERAGE_\w+|TOX_\w+"
)
_FREE = re.compile(
    r"PATH|PWD|OLDPWD|SHLVL|HOME|TERM|COLUMNS|LINES|LANG|LC_\w+|HOSTNAME|USER|LOGNAME|SHELL|TZ|_|PS1"
    r"|CONDA_\w+|VIRTUAL_ENV\w*|\w+_HOME|(?i:\w+_proxy)"
)
"""Regular expression for variables of a container that agents may change without suspicion."""
_DEFAULTS = re.compile(
    r"\$\{([A-Za-z_]\w*):?[-=+]|(?:^|[;&|]|\bthen\b|\bdo\b)[ \t]*\"?\$\{?([A-Za-z_]\w*)", re.MULTILINE
)
"""Regular expression for variables in a script that have a default or alternative value, or are used as a command.

Examples are `${PYTHON:-python3}` and `$CC main.c`.
"""


class TerminalState(Record, frozen=True):
    """The state of a terminal. `has_only_exports`: True if the state contains nothing but exported variables."""

    directory: str
    exports: dict[str, str]
    has_only_exports: bool = True


async def read_terminal_state(sandbox: Sandbox, state: str = STATE_DIRECTORY) -> TerminalState | None:
    """Read the state of the agent's terminal from a sandbox that shares its memory.

    Return None if there is no state.

    Raises:
        EngineError: If the engine does not respond.
    """
    exports = await _read(sandbox, state, "exports")
    if exports is None:
        return None
    found, plain = parse_exports(exports)
    return TerminalState((await _read(sandbox, state, "directory") or "").rstrip("\n"), found, plain)


def parse_exports(text: str) -> tuple[dict[str, str], bool]:
    """Parse the output of a shell's `export -p`.

    Return the variables, and True if the text contains nothing else.
    """
    found: dict[str, str] = {}
    at = 0
    while named := _NAME.match(text, at):
        at, pieces = named.end(), []
        while named[2] and (piece := _PIECE.match(text, at)):
            at = piece.end()
            pieces.append(_plain(piece))
        if named[2]:
            found[named[1]] = "".join(pieces)
    return found, not text[at:].strip()


def variables_affecting_tests(
    terminal: TerminalState, own: Mapping[str, str], scripts: str, instruction: str
) -> dict[str, str | None]:
    """Return a terminal's variables that affect how tests run, each with its original value.

    The original value is the container's value. It is None if the container lacks the variable. `own`: the
    container's variables. `scripts`: the tests' scripts. Variables that the instruction names are left out.
    """
    used = {name for pair in _DEFAULTS.findall(scripts) for name in pair if name}
    exports = terminal.exports
    return {
        name: own.get(name)
        for name in sorted({*exports, *own})
        if exports.get(name) != own.get(name)
        and not _FREE.fullmatch(name)
        and (_STARTS_PROGRAMS.fullmatch(name) or name in own or name in used)
        and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", instruction) is None
    }


async def write_terminal_state(
    sandbox: Sandbox, terminal: TerminalState, changed: Mapping[str, str | None]
) -> str:
    """Store a terminal's state (working directory, exported variables) in a new folder of the container.

    Return the path of that folder. `changed`: mapping from variables to replace to their values; None removes
    the variable. `PATH` is limited to folders that the container engine can see.

    Raises:
        EngineError: If the engine does not respond.
    """
    exports = {**terminal.exports, **changed}
    exports[PATH_VARIABLE] = find_visible_path(exports.get(PATH_VARIABLE) or "")
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in exports.items() if value is not None]
    state = new_state_directory()
    for name, text in (("exports", "".join(lines)), ("directory", f"{terminal.directory}\n")):
        await sandbox.run(["sh", "-c", _WRITE, "sh", state, name], seconds=READ_SECONDS, stdin=text.encode())
    return state


async def _read(sandbox: Sandbox, state: str, name: str) -> str | None:
    ended = await sandbox.run(
        ["sh", "-c", _READ, "sh", state, name], seconds=READ_SECONDS, kept_bytes=MAX_STATE_BYTES
    )
    return ended.stdout.decode("utf-8", "replace") if ended.succeeded else None


def _plain(piece: re.Match[str]) -> str:
    """Return the text that a quoted or bare piece of a shell word stands for."""
    doubled, escaped, single, one, bare = cast("tuple[str | None, ...]", piece.groups())
    if doubled is not None:
        return _ESCAPED.sub(lambda found: found[1] or "", doubled)
    if escaped is not None:
        return _IN_QUOTES.sub(_byte, escaped.encode()).decode("utf-8", "replace")
    return single or one or bare or ""


def _byte(found: re.Match[bytes]) -> bytes:
    """Return the byte that an escape in $'…' means. bash writes unprintable bytes as octal digits."""
    if found[1][:1] in b"01234567":
        return bytes([int(found[1], 8) & 0xFF])
    return _BYTES.get(found[1], found[1])
