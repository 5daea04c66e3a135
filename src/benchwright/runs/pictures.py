"""The pictures of a run. Each is stored once in `pictures/` and named by its SHA-256.

In a body, the reference `picture:image/png;<file>` replaces the picture's data URL. Readers of a body get the
data URL back, byte for byte. Only the field `url` of an object can hold a data URL or a reference, because
quotes within texts are escaped in JSON.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import deque
from pathlib import Path
from secrets import randbits

import xxhash

from benchwright.errors import JournalError
from benchwright.files import file_stamps, write_atomically
from benchwright.pictures import decode_data_url, parse_picture

PICTURES_FOLDER = "pictures"

MAX_RECENT_PICTURES = 256
"""Number of recently stored pictures that are recognised, when they occur again, without being decoded again."""

_KEPT = b'"url":"data:image/'
_REFERRED = b'"url":"picture:image/'
_NOT_REFERRED = b'"url":"\\u0070icture:image/'
"""`_REFERRED`: the beginning of a reference to a picture in a body, as JSON.

`_NOT_REFERRED`: the same text with its `p` escaped. It replaces a text by a model that merely looks like a
reference.
"""

_URL = re.compile(rb'"url":"(data:(image/[a-z]+);base64,)')
_REFERENCE = re.compile(rb'"url":"picture:(image/[a-z]+);(?P<name>[0-9a-f]{64}\.(?:png|jpeg|gif|webp))"')
_NAME = re.compile(r"([0-9a-f]{64})\.(png|jpeg|gif|webp)")


class PictureFiles:
    """Moves the pictures in the bodies of one run into files of their own."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / PICTURES_FOLDER
        self._unsynced: deque[Path] = deque()
        self._names: dict[bytes, str] = {}
        self._seed = randbits(64)

    def extract_pictures(self, body: bytes) -> bytes:
        """Write the pictures in a body to files. Return the body with references in place of the pictures.

        Data URLs that are not valid pictures stay as they are.

        Raises:
            JournalError: If the disk is full or gone.
        """
        body = body.replace(_REFERRED, _NOT_REFERRED)
        if _KEPT not in body:
            return body
        parts, end = [], 0
        for found in _URL.finditer(body):
            close = body.find(b'"', found.end())
            name = self._kept(body[found.end() : close])
            if name is not None:
                parts += [body[end : found.start(1)], b"picture:%b;%b" % (found[2], name.encode())]
                end = close
        return b"".join([*parts, body[end:]])

    def _kept(self, encoded: bytes) -> str | None:
        """Store a base64 picture and return the name of its file. None if the text is not exactly a picture.

        Repeats of a sample follow each other, so the same picture often comes again soon. Recently stored
        pictures are recognised by a quick digest. Its seed is random, so that nobody can forge a match.
        """
        digest = xxhash.xxh3_128_digest(encoded, self._seed)
        name = self._names.get(digest)
        if name is None and (name := self._newly_kept(encoded)) is not None:
            self._names[digest] = name
            if len(self._names) > MAX_RECENT_PICTURES:
                del self._names[next(iter(self._names))]
        return name

    def _newly_kept(self, encoded: bytes) -> str | None:
        try:
            data = base64.b64decode(encoded, validate=True)
            name = _name(data)
        except ValueError:
            return None
        if base64.b64encode(data) != encoded:
            return None
        path = self._directory / name
        if file_stamps(path)[0][0] != len(data):  # a power loss may have left an empty file
            write_atomically(path, data, error=JournalError)
            self._unsynced.append(path)
        return name

    def sync(self) -> None:
        """Make the written pictures durable against a power loss.

        Raise OSError if the disk reports an error.
        """
        while self._unsynced:
            descriptor = os.open(self._unsynced.popleft(), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def restore_pictures(directory: Path, body: bytes) -> bytes:
    """Return a body of the run in `directory`, with data URLs in place of the references to pictures.

    If a picture is lost, the reference to it remains.
    """
    if _REFERRED not in body:
        return body
    return _REFERENCE.sub(lambda found: _data_url(directory, found), body)


def _data_url(directory: Path, found: re.Match[bytes]) -> bytes:
    data = read_picture(directory, found["name"].decode())
    if data is None:
        return found[0]
    return b'"url":"data:%b;base64,%b"' % (found[1], base64.b64encode(data))


def picture_name(url: str) -> str | None:
    """Return the file name for the picture in a data URL. It is the same in every run.

    Return None if the URL is not a picture.
    """
    try:
        return _name(decode_data_url(url))
    except ValueError:
        return None


def read_picture(directory: Path, name: str) -> bytes | None:
    """Read a stored picture by name. None if it is missing or its content no longer matches its hash."""
    named = _NAME.fullmatch(name)
    if named is None:
        return None
    try:
        data = (directory / PICTURES_FOLDER / name).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == named[1] else None


def _name(data: bytes) -> str:
    """Return the file name for the bytes of a picture. Raise ValueError if they are not a picture."""
    kind = parse_picture(data).image_format
    return f"{hashlib.sha256(data).hexdigest()}.{kind}"
