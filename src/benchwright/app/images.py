"""Lists, selects and deletes the container images that Benchwright pulled or built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from benchwright.errors import UserError
from benchwright.sandbox.docker import connect
from benchwright.sandbox.docker.own_images import OwnImage, own_images, remove_own_image
from benchwright.suggestions import did_you_mean


async def list_images() -> list[OwnImage]:
    """Return all container images that Benchwright pulled or built, ordered by name.

    Raises:
        EngineUnavailable: If there is no usable container engine.
        EngineError: If the engine does not respond.
    """
    async with connect() as engine:
        return await own_images(engine)


def matching_images(found: Sequence[OwnImage], patterns: Iterable[str]) -> list[OwnImage]:
    """Return the images whose names match at least one of these patterns.

    Raises:
        UserError: If a pattern other than `*` matches no image.
    """
    chosen: dict[str, OwnImage] = {}
    for pattern in patterns:
        fitting = {image.name: image for image in found if fnmatchcase(image.name, pattern)}
        if not fitting and pattern != "*":
            hint = did_you_mean(pattern, [image.name for image in found])
            raise UserError(f"No image of ours is called {pattern!r}.{hint}")
        chosen |= fitting
    return list(chosen.values())


async def delete_images(images: Sequence[OwnImage]) -> dict[str, bool]:
    """Delete images. Return {image name: True if the image is gone}. An image in use is not deleted.

    Raises:
        EngineUnavailable: If there is no usable container engine.
        EngineError: If the engine does not respond.
    """
    async with connect() as engine:
        return {image.name: await remove_own_image(engine, image) for image in images}
