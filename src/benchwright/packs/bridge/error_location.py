"""Finds the line in a pack's files at which an error was raised."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

MAX_FILES_CHECKED = 200
"""Maximum number of files of a pack in which a syntax error is searched for."""

_JAVASCRIPT = re.compile(r"(?:file://)?(/[^\s()]+?):(\d+)(?::\d+)?(?=[\s)]|$)", re.MULTILINE)
_PYTHON = re.compile(r'File "([^"]+)", line (\d+)')


def location_in_pack(stack: str, directory: Path) -> str | None:
    """Return `file:line` of the innermost frame inside the pack, from a stack trace.

    Return None if there is no such frame.

    JavaScript lists the innermost frame first, and Python lists it last.
    """
    root = directory.resolve()
    javascript = list(_inside(_JAVASCRIPT.findall(stack), root))
    python = list(_inside(_PYTHON.findall(stack), root))
    return next(iter([*python[-1:], *javascript[:1]]), None)


def _inside(frames: list[tuple[str, str]], root: Path) -> Iterator[str]:
    for name, line in frames:
        path = Path(name).resolve()
        if path.is_relative_to(root):
            yield f"{path.relative_to(root)}:{line}"


def _scripts(directory: Path) -> list[Path]:
    found = [path for suffix in ("js", "mjs", "cjs") for path in directory.rglob(f"*.{suffix}")]
    return sorted(path for path in found if "node_modules" not in path.parts)


async def find_syntax_error(directory: Path, node: str, environment: Mapping[str, str]) -> str | None:
    """Return `file:line` of the first JavaScript file of the pack that Node cannot parse. Return None if there is none.

    The files are parsed, not run. This is needed because Node does not report the location of a syntax error
    in an imported module.
    """
    for path in _scripts(directory)[:MAX_FILES_CHECKED]:
        process = await asyncio.create_subprocess_exec(
            node,
            "--check",
            str(path),
            env=dict(environment),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        _, said = await process.communicate()
        if process.returncode:
            return location_in_pack(said.decode(errors="replace"), directory)
    return None
