"""The identity of a file: what its bytes are, wherever it lies."""

from __future__ import annotations

from os import PathLike

import xxhash

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
