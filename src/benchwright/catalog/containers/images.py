"""Images of a benchmark's tasks: which images a task needs, the order of tasks, and the removal of images.

A family is a group of images that share layers. Tasks run family by family. While tasks of a family remain,
one image of the family is kept, so that shared layers are not pulled again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Literal

from benchwright.engine.protocols import Session, Solver
from benchwright.records import Outcome, Record, Sample, Trial
from benchwright.sandbox.docker import Engine, EngineError
from benchwright.sandbox.docker.image_records import lock_images
from benchwright.sandbox.docker.own_images import own_images, remove_own_image
from benchwright.sandbox.docker.pulls import PullProgress

ImagePolicy = Literal["none", "base", "all"]
"""Policy for keeping images.

`all` removes nothing. `base` keeps one image of each family (group of images that share layers). `none`
removes all images that Benchwright pulled or built.
"""

ImageOrderKey = tuple[str, tuple[str, ...]]
"""Sort key of a task: the family (group of images that share layers) of its images, and the names of its own images.

Sorted by this key, tasks that share layers follow each other.
"""


class TaskImages(Record, frozen=True):
    """The images that one task needs.

    `own_images`: names of images that only this task needs; without a tag if the image is built.
    `shared_images`: names of images that other tasks need, too. `image_family`: name of the group of images
    that share layers.
    """

    own_images: tuple[str, ...]
    image_family: str = ""
    shared_images: tuple[str, ...] = ()

    @property
    def image_order_key(self) -> ImageOrderKey:
        """Sort key by which tasks that share layers of images follow each other."""
        return self.image_family, self.own_images


FindTaskImages = Callable[[Sample], TaskImages]


class ImageRetention:
    """Policy for keeping a run's images, set before the first trial. `pulls`: the pulls in progress."""

    def __init__(self, keep: ImagePolicy = "all") -> None:
        self.keep: ImagePolicy = keep
        self.pulls = PullProgress()


@asynccontextmanager
async def with_image_removal(
    solver: Solver, engine: Engine, images_of: FindTaskImages, keep: ImagePolicy
) -> AsyncIterator[Solver]:
    """Yield a solver that removes images that no later trial needs. `keep`: the policy for keeping images.

    Trials must come in the order of `TaskImages.order_key`. Only images that Benchwright pulled or built are
    removed, and only if nobody uses them.
    """
    keeper = _Keeper(solver, engine, images_of, keep)
    try:
        yield keeper
    finally:
        await keeper.finish()


class _Keeper:
    """A solver that removes an image once a later task has begun, if no running trial uses the image."""

    def __init__(self, solver: Solver, engine: Engine, images_of: FindTaskImages, keep: ImagePolicy) -> None:
        self._solver = solver
        self._engine = engine
        self._images_of = images_of
        self._keep = keep
        self._furthest: ImageOrderKey = ("", ())
        self._working: Counter[ImageOrderKey] = Counter()
        self._seen: set[ImageOrderKey] = set()
        self._common: set[str] = set()

    async def solve(self, trial: Trial, session: Session) -> Outcome:
        """Solve the trial, then remove the images that no later trial needs."""
        images = self._images_of(trial.sample)
        place = images.image_order_key
        self._furthest = max(self._furthest, place)
        self._seen.add(place)
        self._common.update(images.shared_images)
        self._working[place] += 1
        try:
            async with lock_images(self._engine, (*images.own_images, *images.shared_images)):
                return await self._solver.solve(trial, session)
        finally:
            self._working[place] -= 1
            await self._remove([one for one in self._seen if one < self._furthest and not self._working[one]])

    async def finish(self) -> None:
        """Remove all remaining images, except those that the policy keeps."""
        await self._remove([place for place in self._seen if not self._working[place]])
        if self._keep == "none":
            await self._remove_named(self._common)

    async def _remove(self, places: list[ImageOrderKey]) -> None:
        """Remove the images of the tasks with these sort keys.

        With the policy `base`, keep one image of each family.
        """
        if self._keep == "all":
            return
        if self._keep == "base":
            latest = {family: (family, own) for family, own in sorted(self._seen)}
            places = [place for place in places if place != latest[place[0]]]
        self._seen.difference_update(places)
        await self._remove_named(_names(places) - _names(self._seen))

    async def _remove_named(self, names: set[str]) -> None:
        if not names:
            return
        try:
            for image in await own_images(self._engine):
                if image.lock_name in names:
                    await remove_own_image(self._engine, image)
        except EngineError:
            pass  # `benchwright images` shows what is left


def _names(places: Iterable[ImageOrderKey]) -> set[str]:
    return {name for _, own in places for name in own}
