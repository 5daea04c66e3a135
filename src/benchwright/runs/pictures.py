"""The pictures of a run: each lies once in `pictures/`, named by its SHA-256, however many bodies it is in.

In a body a reference takes the place of its data URL, `picture:image/png;<file>`. Who reads a body gets the data URL
back, byte for byte. Only the field `url` of an object can hold either, as quotes within texts are escaped in JSON.
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
from benchwright.files import stamps, write_whole
from benchwright.pictures import bytes_of_url, picture_of

PICTURES = "pictures"

MOST_KNOWN = 256
"""Pictures that are known to be kept without looking into them."""

_KEPT = b'"url":"data:image/'
_REFERRED = b'"url":"picture:image/'
_NOT_REFERRED = b'"url":"\\u0070icture:image/'
"""The same text in JSON, for those who only say what looks like a reference."""

_URL = re.compile(rb'"url":"(data:(image/[a-z]+);base64,)')
_REFERENCE = re.compile(rb'"url":"picture:(image/[a-z]+);(?P<name>[0-9a-f]{64}\.(?:png|jpeg|gif|webp))"')
_NAME = re.compile(r"([0-9a-f]{64})\.(png|jpeg|gif|webp)")


class PictureFiles:
    """Takes the pictures out of the bodies of one run."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / PICTURES
        self._unsynced: deque[Path] = deque()
        self._names: dict[bytes, str] = {}
        self._seed = randbits(64)

    def taken_out(self, body: bytes) -> bytes:
        """The body with references for its pictures, which are written first. What is no picture stays as it is.

        Raises:
            JournalError: the disk is full or gone.
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
        """The name of the file; None where these are not just the bytes of a picture.

        Repeats of a sample follow each other: what was just kept is known by a quick digest, which nobody can foresee.
        """
        digest = xxhash.xxh3_128_digest(encoded, self._seed)
        name = self._names.get(digest)
        if name is None and (name := self._newly_kept(encoded)) is not None:
            self._names[digest] = name
            if len(self._names) > MOST_KNOWN:
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
        if stamps(path)[0][0] != len(data):  # a power loss may have left an empty file
            write_whole(path, data, error=JournalError)
            self._unsynced.append(path)
        return name

    def sync(self) -> None:
        """Makes what was written durable against a power loss; OSError where the disk reports an error."""
        while self._unsynced:
            descriptor = os.open(self._unsynced.popleft(), os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def put_back(directory: Path, body: bytes) -> bytes:
    """A body of the run in this directory with its pictures as data URLs; a reference stays where one is lost."""
    if _REFERRED not in body:
        return body
    return _REFERENCE.sub(lambda found: _data_url(directory, found), body)


def _data_url(directory: Path, found: re.Match[bytes]) -> bytes:
    data = read_picture(directory, found["name"].decode())
    if data is None:
        return found[0]
    return b'"url":"data:%b;base64,%b"' % (found[1], base64.b64encode(data))


def picture_name(url: str) -> str | None:
    """The name that the picture of a data URL has in every run; None where it is no picture."""
    try:
        return _name(bytes_of_url(url))
    except ValueError:
        return None


def read_picture(directory: Path, name: str) -> bytes | None:
    """A picture by its name; None where it is not there, or not what it was."""
    named = _NAME.fullmatch(name)
    if named is None:
        return None
    try:
        data = (directory / PICTURES / name).read_bytes()
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest() == named[1] else None


def _name(data: bytes) -> str:
    """Raises ValueError where it is no picture."""
    kind = picture_of(data).kind
    return f"{hashlib.sha256(data).hexdigest()}.{kind}"
