"""The documents of AA-LCR: text files in a zip archive or a folder. The spelling of their names varies."""

from __future__ import annotations

import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from benchwright.data.datasets import Source
from benchwright.data.errors import DatasetNotFound, DatasetParseError

MAX_DOCUMENT_BYTES = 32 * 2**20
"""Maximum size of a document in bytes. The longest documents have about 2 MB."""

_PLAIN = str.maketrans("’‘´`“”–—", "''''\"\"--")


class DocumentKey(NamedTuple):
    """The key of a document: its category, its set's folder and its file name, all normalized by `normalize_name`."""

    category: str
    folder: str
    name: str


class Documents:
    """The documents of AA-LCR. Each is read only when it is requested."""

    def __init__(self, source: Source) -> None:
        self._readers: dict[DocumentKey, Callable[[], bytes]] = {}
        for file in source.files("documents"):
            for path, read in _archived(file) if file.suffix == ".zip" else [(str(file), file.read_bytes)]:
                parts = [normalize_name(part) for part in PurePosixPath(path).parts]
                if len(parts) > 2:
                    self._readers[DocumentKey(*parts[-3:])] = read

    def read_text(self, category: str, folder: str, name: str) -> str:
        """Return the text of a document.

        Raises:
            DatasetNotFound: If no document has that name. A missing document is never silently skipped.
        """
        reader = self._readers.get(
            DocumentKey(normalize_name(category), normalize_name(folder), normalize_name(name))
        )
        if reader is None:
            raise DatasetNotFound(f"AA-LCR's document {name!r} of the set {category}/{folder} is not there")
        return reader().decode("utf-8", "replace")


def normalize_name(name: str) -> str:
    """Normalize a name, so that all spellings of the name become equal.

    Names in the archive are UTF-8 that was decoded as code page 437.
    """
    try:
        name = name.encode("cp437").decode("utf-8")
    except UnicodeError:
        pass
    return unicodedata.normalize("NFC", name).translate(_PLAIN).strip()


def _archived(file: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the path of each file in a zip archive, and a function that reads the file.

    The archive is not unpacked.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = [one for one in archive.infolist() if not one.is_dir()]
    except (OSError, zipfile.BadZipFile) as error:
        raise DatasetParseError(f"{file} is not a zip archive: {error}") from error
    for member in members:
        yield member.filename, partial(_member, file, member)


def _member(file: Path, member: zipfile.ZipInfo) -> bytes:
    try:
        with zipfile.ZipFile(file) as archive, archive.open(member) as opened:
            content = opened.read(MAX_DOCUMENT_BYTES + 1)
    except (OSError, zipfile.BadZipFile) as error:
        raise DatasetParseError(f"{file}: {member.filename} cannot be read: {error}") from error
    if len(content) > MAX_DOCUMENT_BYTES:
        raise DatasetParseError(f"{file}: {member.filename} has more than {MAX_DOCUMENT_BYTES:,} bytes")
    return content
