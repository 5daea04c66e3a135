"""Images that Benchwright pulled (known from `image_records`) or built itself (known from labels).

Images that were in the engine before Benchwright used them are somebody else's. They are neither listed nor
removed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from benchwright.records import Record
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import convert_engine_errors
from benchwright.sandbox.docker.image_records import ImageRecord, is_unused, read_records
from benchwright.sandbox.docker.images import remove_image
from benchwright.sandbox.docker.ownership import is_own_build


class OwnImage(Record, frozen=True):
    """An image that Benchwright pulled or built.

    `bytes`: the size of the image, including layers that other images share. `used_at`: the time of the last
    use (wall clock, ns); 0 if unknown.
    """

    name: str
    image_id: str
    bytes: int
    built: bool
    purpose: str = ""
    used_at: int = 0

    @property
    def lock_name(self) -> str:
        """The name under which the image is locked.

        For a built image, the name has no tag, because the tag is unknown before the build.
        """
        return self.name.rpartition(":")[0] if self.built else self.name


async def own_images(engine: Engine) -> list[OwnImage]:
    """Return all images in the engine that Benchwright pulled or built, sorted by name.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("listing images"):
        listed = await engine.client.images.list()
    notes = await asyncio.to_thread(lambda: {note.name: note for note in read_records(engine)})
    found = [
        _ours(name, image["Id"], image["Size"], image.get("Labels") or {}, notes.get(name))
        for image in listed
        for name in image.get("RepoTags") or ()
    ]
    return sorted((one for one in found if one is not None), key=lambda one: one.name)


async def remove_own_image(engine: Engine, image: OwnImage) -> bool:
    """Remove an image that Benchwright pulled or built.

    Return False if a container or another process of this user uses the image.

    Raises:
        EngineError: If the engine does not answer.
    """
    async with is_unused(engine, image.lock_name) as free:
        return free and await remove_image(engine, image.name)


def _ours(
    name: str, image_id: str, size: int, labels: Mapping[str, str], note: ImageRecord | None
) -> OwnImage | None:
    if note is not None and note.image_id != image_id:
        note = None
    built = is_own_build(name, labels)
    if not built and not (note is not None and note.pulled):
        return None
    purpose, used_at = ("", 0) if note is None else (note.purpose, note.used_at)
    return OwnImage(name, image_id, size, built, purpose, used_at)
