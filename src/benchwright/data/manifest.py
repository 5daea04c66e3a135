"""fetched.json: the origin, revision and file digests of fetched data.

Also computes the fingerprint of a single file.
"""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path

import msgspec
import xxhash

from benchwright.data.errors import DatasetParseError
from benchwright.records import DECODE_ERRORS, Record

MANIFEST_NAME = "fetched.json"


class FetchedFile(Record, frozen=True):
    """Size and digests of a file when it was fetched.

    `sha256` is there for comparison with the hub, also by people. `xxh3` is checked each time the data is
    loaded.
    """

    size: int
    sha256: str
    xxh3: str


class Manifest(Record, frozen=True):
    """The content of fetched.json. The names in `files` are relative to the directory of fetched.json."""

    name: str
    origin: str
    revision: str
    files: dict[str, FetchedFile]


def describe_fetched_file(path: Path) -> FetchedFile:
    """Return the size and digests of a file, reading it once.

    Raises:
        OSError: If the file cannot be read.
    """
    sha256, xxh3, size = hashlib.sha256(), xxhash.xxh3_128(), 0
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            sha256.update(chunk)
            xxh3.update(chunk)
            size += len(chunk)
    return FetchedFile(size, sha256.hexdigest(), xxh3.hexdigest())


def make_manifest(root: Path, name: str, origin: str, revision: str) -> Manifest:
    """Return the manifest of all files below `root`. Symbolic links are left out."""
    paths = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    files = {path.relative_to(root).as_posix(): describe_fetched_file(path) for path in paths}
    return Manifest(name, origin, revision, files)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Write fetched.json into `root`."""
    encoded = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    (root / MANIFEST_NAME).write_bytes(encoded)


def read_manifest(root: Path) -> Manifest | None:
    """Read the manifest in `root`. Return None if `root` has no manifest.

    Raises:
        DatasetParseError: If the file cannot be read.
    """
    path = root / MANIFEST_NAME
    try:
        return msgspec.json.decode(path.read_bytes(), type=Manifest)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, *DECODE_ERRORS) as error:
        raise DatasetParseError(
            f"{path} cannot be read ({error}); delete {root} and fetch it again"
        ) from error


CHUNK_BYTES = 128 * 1024


def file_fingerprint(path: str | PathLike[str]) -> str:
    """Return the xxh3 digest (128 bits, 32 hex digits) of a file's bytes, read in chunks of 128 KiB.

    Raises:
        OSError: If the file cannot be read.
    """
    digest = xxhash.xxh3_128()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
