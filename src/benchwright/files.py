"""Files that a command was asked to write: whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchwright.errors import UserError


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file by rename.

    Raises:
        UserError: it cannot be written.
    """
    with draft_of(path) as file:
        file.write(content)


@contextmanager
def draft_of(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to that becomes `path` when all went well, and else is gone.

    Raises:
        UserError: it cannot be written.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            yield file
        draft.replace(path)
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror or error}.") from None
    finally:
        draft.unlink(missing_ok=True)


def append(path: Path, content: bytes) -> None:
    """Adds to the end of a file.

    Raises:
        UserError: it cannot be written.
    """
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror or error}.") from None
