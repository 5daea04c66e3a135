"""Finds the files that a command writes, and the contents written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from benchwright.catalog.containers.auditing.shell_records import (
    EmbeddedProgram,
    FileWrite,
    ShellCommand,
    WriteMethod,
)
from benchwright.catalog.containers.auditing.written_edits import file_writes_of_patch

_COPIES: dict[str, WriteMethod] = {
    "cp": "copy",
    "install": "copy",
    "mv": "move",
    "ln": "link",
    "rsync": "copy",
}
_FOLDER = re.compile(r"(?:.*/)?s?bin|/|/tests|.*/site-packages")
"""Regular expression for paths that are taken for folders if a command copies to them.

Any other path is taken for a folder only if it ends with a slash.
"""
_OPENED = re.compile(r"""open\(\s*[rf]?["']([^"']+)["']\s*,\s*["'][wax]""")
_PATH = re.compile(r"""Path\(\s*[rf]?["']([^"']+)["']\s*\)\s*\.\s*(?:write_|unlink|symlink_to|chmod)""")
_MOVED = re.compile(
    r"""(?:shutil\.(?:copy\w*|move)|os\.(?:replace|rename|symlink|link))\(.*?,\s*[rf]?["']([^"']+)["']\s*\)"""
)


def file_writes_of(command: ShellCommand) -> Iterator[FileWrite]:
    """Yield the files that one command writes, moves, links or deletes."""
    line, plain = command.line, [word for word in command.arguments if not word.startswith("-")]
    content = command.stdin_text or printed_text(command.words)
    for path in command.output_files:
        yield FileWrite(command.resolve_path(path), "redirect", content, line)
    if command.program == "tee":
        fed = command.stdin_text or printed_text(command.piped_words)
        yield from (FileWrite(command.resolve_path(path), "redirect", fed, line) for path in plain)
    elif command.program in _COPIES and len(plain) > 1:
        yield from _copied(command, plain)
    elif command.program == "sed" and any(
        word.startswith(("-i", "--in-place")) for word in command.arguments
    ):
        yield from (FileWrite(command.resolve_path(path), "edit", plain[0], line) for path in plain[1:])
    elif command.program in ("rm", "unlink", "truncate", "shred"):
        yield from (FileWrite(command.resolve_path(path), "delete", "", line) for path in plain)
    elif command.program in ("apply_patch", "applypatch"):
        for one in file_writes_of_patch(command.stdin_text or "".join(plain)):
            yield replace(one, path=command.resolve_path(one.path))
    elif command.program == "dd":
        targets = (word.removeprefix("of=") for word in plain if word.startswith("of="))
        yield from (FileWrite(command.resolve_path(path), "redirect", "", line) for path in targets)


def file_writes_of_program(code: EmbeddedProgram) -> Iterator[FileWrite]:
    """Yield the files named in write calls of a program in another language than shell."""
    for line in code.text.split("\n"):
        for shape in (_OPENED, _PATH, _MOVED):
            for found in shape.finditer(line):
                yield FileWrite(found[1], "edit", code.text, line.strip())


def _copied(command: ShellCommand, plain: Sequence[str]) -> Iterator[FileWrite]:
    """Yield the target files of a command that copies.

    With `mv`, yield also the source files, because they disappear.
    """
    how, target = _COPIES[command.program], plain[-1]
    into = target.endswith("/") or len(plain) > 2 or _FOLDER.fullmatch(target) is not None
    for source in plain[:-1]:
        path = posixpath.join(target, posixpath.basename(source)) if into else target
        yield FileWrite(command.resolve_path(path), how, "", command.line, command.resolve_path(source))
        if how == "move":
            yield FileWrite(command.resolve_path(source), how, "", command.line, command.resolve_path(path))


def printed_text(words: Sequence[str]) -> str:
    """Return the output of an `echo` or `printf` command with the words `words`. Return "" for other commands."""
    return " ".join(words[1:]) if words[:1] in (["echo"], ["printf"]) else ""
