"""The builds of a run: each image once, and only a few under way at the same time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path

from benchwright.sandbox.docker.building import Recipe, built, image_of
from benchwright.sandbox.docker.engine import Engine
from benchwright.sandbox.docker.images import configuration_of
from benchwright.text import Say

AT_ONCE = 2


class Builds:
    """Builds the images of an engine for all who need them."""

    def __init__(self, engine: Engine, at_once: int = AT_ONCE) -> None:
        self._engine = engine
        self._places = asyncio.Semaphore(at_once)
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def image(
        self, name: str, context: Path, version: str, recipe: Recipe, seconds: float, say: Say
    ) -> str:
        """The image of a folder with a Dockerfile, see `building.built`; waits for a place where it must be built.

        Raises:
            EngineError: it cannot be built.
        """
        image = await image_of(name, context, version, recipe)
        if await configuration_of(self._engine, image) is not None:
            return image
        async with self._locks[name], self._places:
            return await built(self._engine, name, context, version, say, seconds, recipe)
