"""Command line and environment of a pack's process, in Node or Python."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchwright.errors import UserError
from benchwright.packs.bridge.limits import MEBIBYTE
from benchwright.python_commands import isolated_command

CommandBuilder = Callable[[int, int], Sequence[str]]
"""Function from two descriptors of a process to its command line.

The process reads from the first descriptor and writes to the second.
"""

MIN_NODE_VERSION = (18, 0)
BRIDGE_FOLDER = Path(__file__).parent
NODE_BRIDGE_FILE = BRIDGE_FOLDER.parent / "node" / "bridge.cjs"
NODE_HOOKS_FILE = BRIDGE_FOLDER.parent / "node" / "hooks.mjs"
PYTHON_FOLDER = BRIDGE_FOLDER.parent / "python"
PYTHON_START_CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); from benchwright_pack.inside.main import main; main()"
)

LIBRARIES_VARIABLE = "BENCHWRIGHT_PACK_LIBRARIES"
"""Environment variable that holds the folder of the host's libraries for JavaScript packs."""

_PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ")
_versions: dict[tuple[str, float], tuple[int, int]] = {}


async def pack_command(entry: str, node: str, memory_bytes: int) -> CommandBuilder:
    """Return the command for a pack with this entry file: Python if the file's name ends in .py, Node otherwise.

    Raises:
        UserError: If the pack needs Node, and Node is missing or too old.
    """
    return python_command() if entry.endswith(".py") else await node_command(node, memory_bytes)


async def node_command(node: str, memory_bytes: int) -> CommandBuilder:
    """Return the command for a JavaScript pack.

    Raises:
        UserError: If Node is missing or too old.
    """
    program = shutil.which(node)
    if program is None:
        raise UserError(
            f"JavaScript packs need Node.js 18 or newer, and there is no {node!r} on the PATH: install it, "
            "or name the program"
        )
    version = await _version(program)
    if version < MIN_NODE_VERSION:
        raise UserError(
            f"JavaScript packs need Node.js 18 or newer; {program} is version {version[0]}.{version[1]}"
        )
    options = [f"--max-old-space-size={memory_bytes // MEBIBYTE}"]
    if version < (18, 19) or (19, 0) <= version < (20, 6):  # no module.register() yet
        options.append(f"--experimental-loader={NODE_HOOKS_FILE.as_uri()}")
    return lambda read, write: [program, *options, str(NODE_BRIDGE_FILE), str(read), str(write)]


async def _version(program: str) -> tuple[int, int]:
    known = (program, os.stat(program).st_mtime)
    if known not in _versions:
        asking = await asyncio.create_subprocess_exec(
            program, "--version", stdin=DEVNULL, stdout=PIPE, stderr=PIPE, env=pack_environment(Path("/"), {})
        )
        said, _ = await asking.communicate()
        found = re.match(rb"v(\d+)\.(\d+)", said)
        if found is None:
            raise UserError(f"{program} does not say which version of Node.js it is; packs need 18 or newer")
        _versions[known] = int(found[1]), int(found[2])
    return _versions[known]


def python_command() -> CommandBuilder:
    """Return the command for a Python pack: this process's interpreter, isolated from the user's Python settings."""
    start = isolated_command(PYTHON_START_CODE, str(PYTHON_FOLDER))
    return lambda read, write: [*start, str(read), str(write)]


def pack_environment(home: Path, added: Mapping[str, str]) -> dict[str, str]:
    """Return all environment variables of a pack's process. They contain no keys and no settings of the host."""
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {"PATH": os.defpath, "LANG": "C.UTF-8", **passed, "HOME": str(home), **added}
