"""Edits that agents write as text: patches for `apply_patch`, and whole files in a response, as in aider."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchwright.catalog.containers.auditing.shell_records import FileWrite

BEGIN_PATCH = "*** Begin Patch"

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)[ \t]*$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+?)[ \t]*$", re.MULTILINE)
_NAMED_BLOCK = re.compile(r"^(\S[^\n]*)\n(`{3,})[^\n`]*\n(.*?)^\2`*[ \t]*$", re.DOTALL | re.MULTILINE)
_REPLACED = re.compile(r"^={5,}\n(.*?)^>{5,} REPLACE", re.DOTALL | re.MULTILINE)


def is_patch(text: Any) -> bool:
    """Return True if the text is a patch for `apply_patch`. A command that applies a patch does not count."""
    return isinstance(text, str) and text.lstrip().startswith(BEGIN_PATCH)


def file_writes_of_patch(text: str) -> Iterator[FileWrite]:
    """Yield the files that a patch adds, changes, moves or deletes, each with the text that the patch adds to it."""
    found = list(_FILE.finditer(text))
    ends = [*(one.start() for one in found[1:]), len(text)]
    for one, end in zip(found, ends, strict=True):
        section, path = text[one.end() : end], one[2]
        added = "\n".join(line[1:] for line in section.split("\n") if line.startswith("+"))
        yield FileWrite(path, "delete" if one[1] == "Delete" else "edit", added, one[0])
        if moved := _MOVED.search(section):
            yield FileWrite(moved[1], "move", added, moved[0], source_path=path)


def file_writes_of_answer(text: str) -> Iterator[FileWrite]:
    """Yield the files in a response: a line with only a path, followed by a fenced block.

    The block contains the whole file, or the replacement for a part of the file.
    """
    for path, _, block in _NAMED_BLOCK.findall(text):
        replaced = _REPLACED.findall(block)
        path = path.strip().strip("*`")
        yield FileWrite(path, "edit", "".join(replaced) if replaced else block, f"edit {path}")
