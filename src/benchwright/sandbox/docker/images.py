"""Finds, pulls and removes images. If several callers want an image at the same time, it is pulled once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from benchwright.sandbox.docker import ownership
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.errors import EngineError, convert_engine_errors
from benchwright.sandbox.docker.image_records import delete_record, write_record
from benchwright.sandbox.docker.logins import find_login, full_image_name
from benchwright.text import Say


async def image_configuration(engine: Engine, image: str) -> dict[str, Any] | None:
    """Return the `Config` of an image (volumes, user, labels). Return None if the image does not exist.

    Raises:
        EngineError: If the engine does not answer.
    """
    found = await _inspected(engine, image)
    return None if found is None else dict(found.get("Config") or {})


async def _inspected(engine: Engine, image: str) -> Mapping[str, Any] | None:
    try:
        with convert_engine_errors(f"looking for the image {image}"):
            return await engine.client.images.inspect(image)
    except EngineError as error:
        if error.kind == "image_missing":
            return None
        raise


async def _noted(engine: Engine, image: str, *, pulled: bool) -> bool:
    """Return True if the image exists. If Benchwright pulled or built the image, record that it is used."""
    found = await _inspected(engine, image)
    if found is None:
        return False
    labels = (found.get("Config") or {}).get("Labels") or {}
    built = ownership.is_own_build(image, labels)
    await asyncio.to_thread(write_record, engine, image, found["Id"], pulled=pulled, built=built)
    return True


async def tagged_image_names(engine: Engine, name: str) -> list[str]:
    """Return all images that have this name and a tag, each as `name:tag`.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors(f"looking for images of {name}"):
        found = await engine.client.images.list(filters={"reference": [name]})
    return [tag for image in found for tag in image.get("RepoTags") or () if tag.rpartition(":")[0] == name]


async def image_names(engine: Engine) -> set[str]:
    """Return the names of all images. Each name is returned twice: with its tag, and without.

    Raises:
        EngineError: If the engine does not answer.
    """
    with convert_engine_errors("listing images"):
        listed = await engine.client.images.list()
    tags = {tag for image in listed for tag in image.get("RepoTags") or ()}
    return tags | {tag.rpartition(":")[0] for tag in tags}


async def remove_image(engine: Engine, image: str) -> bool:
    """Remove an image (or only the tag, if it has several), and its record. Return False if it is in use or missing.

    Raises:
        EngineError: If the engine does not answer.
    """
    try:
        with convert_engine_errors(f"removing the image {image}"):
            await engine.client.images.delete(image)
    except EngineError as error:
        if error.kind == "not_running":
            raise
        return False
    delete_record(engine, image)
    return True


class ImageProvider:
    """Provides an engine's images to several callers: pulls images that are missing."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pulls: dict[str, _Pull] = {}

    async def provide(self, image: str, say: Say = lambda said: None) -> None:
        """Pull an image, unless it exists. The pull is cancelled once all callers that wait for it are cancelled.

        Raises:
            EngineError: If the image cannot be pulled.
        """
        if await _noted(self._engine, image, pulled=False):
            return
        pull = self._pulls.get(image)
        if pull is None:
            pull = self._pulls[image] = _Pull(asyncio.ensure_future(self._pull(image, say)))
        pull.waiting += 1
        try:
            await asyncio.shield(pull.task)
        finally:
            pull.waiting -= 1
            if pull.waiting == 0:
                pull.task.cancel()
                self._pulls.pop(image, None)

    async def _pull(self, image: str, say: Say) -> None:
        pulls, login = self._engine.pulls, await find_login(image)
        name = full_image_name(image) if login else image
        pulls.add(image)
        try:
            with convert_engine_errors(f"pulling the image {image}"):
                async for step in self._engine.client.images.pull(name, auth=login, stream=True):
                    pulls.update(image, step)
                    say(f"{step.get('status', '')} {step.get('progress', '')}".strip())
        finally:
            pulls.remove(image)
        await _noted(self._engine, image, pulled=True)


class _Pull:
    def __init__(self, task: asyncio.Task[None]) -> None:
        self.task = task
        self.waiting = 0
