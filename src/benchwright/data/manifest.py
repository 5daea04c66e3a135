"""fetched.json: what was fetched, at which revision, and the digests its files must keep; fingerprints of files."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path

import msgspec
import xxhash

from benchwright.data.errors import DatasetParseError
from benchwright.records import UNREADABLE, Record

MANIFEST_NAME = "fetched.json"


class FetchedFile(Record, frozen=True):
    """A file as it came: `sha256` is what hubs and people compare, `xxh3` what is checked at each load."""

    size: int
    sha256: str
    xxh3: str


class Manifest(Record, frozen=True):
    """What was fetched. `files` has their names relative to the directory that holds fetched.json."""

    name: str
    origin: str
    revision: str
    files: dict[str, FetchedFile]


def fetched_file(path: Path) -> FetchedFile:
    """Size and digests of a file, in one reading.

    Raises:
        OSError: the file cannot be read.
    """
    sha256, xxh3, size = hashlib.sha256(), xxhash.xxh3_128(), 0
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            sha256.update(chunk)
            xxh3.update(chunk)
            size += len(chunk)
    return FetchedFile(size, sha256.hexdigest(), xxh3.hexdigest())


def manifest_of(root: Path, name: str, origin: str, revision: str) -> Manifest:
    """The manifest of all files below `root`; links are left out."""
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    files = {path.relative_to(root).as_posix(): fetched_file(path) for path in paths}
    return Manifest(name, origin, revision, files)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Writes fetched.json into `root`."""
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    (root / MANIFEST_NAME).write_bytes(encoded)


def read_manifest(root: Path) -> Manifest | None:
    """The manifest in `root`; None where there is none.

    Raises:
        DatasetParseError: it cannot be read.
    """
    path = root / MANIFEST_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, *UNREADABLE) as error:
        raise DatasetParseError(
            f"{path} cannot be read ({error}); delete {root} and fetch it again"
        ) from error


CHUNK_BYTES = 128 * 1024


def file_fingerprint(path: str | PathLike[str]) -> str:
    """The xxh3 digest (128 bits, 32 hex digits) of a file's bytes, read in chunks of 128 KiB.

    Raises:
        OSError: the file cannot be read.
    """
    digest = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
