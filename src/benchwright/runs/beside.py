"""Records that lie beside the journal of a run, a file each."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.errors import JournalError, UserError
from benchwright.files import write_whole
from benchwright.records import UNREADABLE, Record
from benchwright.runs.journal import encode_json

Kept = TypeVar("Kept", bound=Record)


def write_beside(path: Path, record: Record) -> None:
    """Writes a record whole, in place of an earlier one.

    Raises:
        JournalError: the directory cannot be written.
    """
    write_whole(path, encode_json(record), durable=True, error=JournalError)


def read_beside(path: Path, kind: type[Kept]) -> Kept | None:
    """Reads a record; None where there is no such file.

    Raises:
        UserError: it cannot be read.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except UNREADABLE as error:
        raise UserError(f"{path} cannot be read: {error}.") from None
