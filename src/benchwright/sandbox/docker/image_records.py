"""Records of the images that Benchwright pulled or built (their purpose and last use), and locks on images.

A record is for one engine and one image id. So if somebody else later pulls an image of the same name, that
image does not count as Benchwright's.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import IO

import msgspec

from benchwright.errors import UserError
from benchwright.files import write_atomically
from benchwright.home import images_directory
from benchwright.records import DECODE_ERRORS, Record
from benchwright.sandbox.docker.engine import Engine

LOCK_RETRY_INTERVAL = 0.1
"""Seconds between two attempts to lock an image that is being removed."""


class ImageRecord(Record, frozen=True):
    """The record of one image that Benchwright pulled or built.

    `used_at`: the time of the last use (wall clock, ns).
    """

    engine: str
    name: str
    image_id: str
    purpose: str = ""
    pulled: bool = False
    used_at: int = 0


def write_record(engine: Engine, image: str, image_id: str, *, pulled: bool, built: bool) -> None:
    """Record that an image is used now. Images that Benchwright neither pulled nor built are not recorded.

    `pulled`: True if the image was pulled just now. If it was pulled earlier, its record says so. If the
    record cannot be written, the image counts as somebody else's and is kept.
    """
    before = read_record(engine, image)
    pulled = pulled or (before is not None and before.pulled and before.image_id == image_id)
    if not pulled and not built:
        return
    made = ImageRecord(_id_of(engine), image, image_id, engine.purpose, pulled, time.time_ns())
    try:
        write_atomically(_path(engine, image), msgspec.json.encode(made))
    except UserError:
        pass


def read_record(engine: Engine, image: str) -> ImageRecord | None:
    """Return the record of an image. Return None if the record is missing or unreadable."""
    return _read(_path(engine, image))


def read_records(engine: Engine) -> Iterator[ImageRecord]:
    """Yield Benchwright's records of the images that it pulled or built with this engine.

    Unreadable records are skipped.
    """
    for path in images_directory().glob("*.json"):
        note = _read(path)
        if note is not None and note.engine == _id_of(engine):
            yield note


def delete_record(engine: Engine, image: str) -> None:
    """Delete the record of an image."""
    _path(engine, image).unlink(missing_ok=True)


@asynccontextmanager
async def lock_images(engine: Engine, images: Sequence[str]) -> AsyncIterator[None]:
    """Lock images until exit, so that no other process of this user removes them."""
    with ExitStack() as stack:
        for image in sorted(set(images)):
            file = stack.enter_context(_lock(engine, image))
            while True:
                if _locked(file, fcntl.LOCK_SH):
                    break
                await asyncio.sleep(LOCK_RETRY_INTERVAL)
        yield


@asynccontextmanager
async def is_unused(engine: Engine, image: str) -> AsyncIterator[bool]:
    """Yield True if no process of this user uses an image. Then no process can begin to use it until exit."""
    with _lock(engine, image) as file:
        yield _locked(file, fcntl.LOCK_EX)


def _lock(engine: Engine, image: str) -> IO[str]:
    path = _path(engine, image).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("w")


def _locked(file: IO[str], how: int) -> bool:
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(path: Path) -> ImageRecord | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=ImageRecord)
    except (OSError, *DECODE_ERRORS):
        return None


def _path(engine: Engine, image: str) -> Path:
    name = hashlib.sha256(f"{_id_of(engine)} {image}".encode()).hexdigest()[:32]
    return images_directory() / f"{name}.json"


def _id_of(engine: Engine) -> str:
    return str(engine.information.get("ID") or engine.address)
