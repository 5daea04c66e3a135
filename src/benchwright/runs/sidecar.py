"""Sidecar files: files beside the journal of a run, with one record each."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import msgspec

from benchwright.errors import JournalError, UserError
from benchwright.files import write_atomically
from benchwright.records import DECODE_ERRORS, Record
from benchwright.runs.journal import encode_json

SidecarRecord = TypeVar("SidecarRecord", bound=Record)


def write_sidecar(path: Path, record: Record) -> None:
    """Write a record to a sidecar file. An earlier file is replaced atomically.

    Raises:
        JournalError: If the directory cannot be written.
    """
    write_atomically(path, encode_json(record), durable=True, error=JournalError)


def read_sidecar(path: Path, kind: type[SidecarRecord]) -> SidecarRecord | None:
    """Read a record from a sidecar file. Return None if the file does not exist.

    Raises:
        UserError: If the file cannot be read as a record of this kind.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from None
    except DECODE_ERRORS as error:
        raise UserError(f"{path} cannot be read: {error}.") from None
