"""Container images of a run: their disk space, which of them are kept, and the order of trials that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.containers.benchmark import ContainerBenchmark
from benchwright.catalog.containers.images import FindTaskImages, ImagePolicy, ImageRetention
from benchwright.catalog.scripted_checks import original_sample
from benchwright.formats import count_with_noun
from benchwright.records import Sample, Trial
from benchwright.sandbox.docker import Engine, EngineError, EngineUnavailable, connect
from benchwright.sandbox.docker.images import image_names
from benchwright.text import Say

BYTES_PER_GIB = 2**30
RESERVED_DISK_BYTES = 10 * BYTES_PER_GIB
"""Bytes that must be free for containers and layers being built, besides the space for the images."""
LOW_DISK_BYTES = 20 * BYTES_PER_GIB
"""Free bytes below which a warning is given if the size of the images is unknown."""


class RunImages:
    """Decides which container images a run keeps, and orders its trials accordingly.

    `asked`: the images that the user wants to keep; None if the free disk space is to decide.
    """

    def __init__(
        self,
        benchmark: ContainerBenchmark,
        images_of: FindTaskImages,
        asked: ImagePolicy | None,
        *,
        may_order: bool,
    ) -> None:
        self.keeping = ImageRetention(asked or "all")
        self.benchmark: Benchmark = msgspec.structs.replace(benchmark, image_retention=self.keeping)
        self.images_of = images_of
        self._name = benchmark.about.full_name
        self._image_gib = benchmark.image_gib
        self._may_choose = asked is None and may_order

    def order_by_image(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Return the trials ordered by image; see `Plan.reorder_trials`. If all images are kept, the order stays."""
        return self._arranged(trials, lambda trial: trial.sample)

    def order_checks_by_image(self, trials: Iterable[Trial]) -> Iterator[Trial]:
        """Return the checks of a validation ordered by image. If all images are kept, the order does not change."""
        return self._arranged(trials, original_sample)

    def _arranged(self, trials: Iterable[Trial], sample_of: Callable[[Trial], Sample]) -> Iterator[Trial]:
        if self.keeping.keep == "all":
            return iter(trials)
        return iter(sorted(trials, key=lambda trial: self.images_of(sample_of(trial)).image_order_key))

    async def decide_kept_images(self, samples: Callable[[], Iterable[Sample]], say: Say) -> None:
        """Decide which images are kept, and warn if the disk is too small for these samples.

        Call it before the first trial. Ignore an unreachable engine, because the run itself reports it.
        """
        try:
            async with connect() as engine:
                await self._look_at_disk(engine, samples, say)
        except (EngineUnavailable, EngineError):
            pass

    async def _look_at_disk(self, engine: Engine, samples: Callable[[], Iterable[Sample]], say: Say) -> None:
        free = engine.free_bytes()
        if free is None:
            return
        here = await image_names(engine)
        missing = len(self._missing(samples, here))
        if not missing:
            return
        place, room = engine.information["DockerRootDir"], f"{free / BYTES_PER_GIB:.0f} GiB"
        images = (
            f"{count_with_noun(missing, 'image')} of {self._name} that "
            f"{'is' if missing == 1 else 'are'} not here yet"
        )
        if self._image_gib is None:
            if free < LOW_DISK_BYTES:
                say(
                    f"Docker has {room} left in {place} for {images}; --limit and --keep-images none need less."
                )
            return
        needed = missing * self._image_gib * BYTES_PER_GIB + RESERVED_DISK_BYTES
        if needed <= free or self.keeping.keep != "all":
            return
        said = f"Docker has {room} left in {place}, and {images} take about {needed / BYTES_PER_GIB:.0f} GiB"
        if self._may_choose:
            self.keeping.keep = "none"
            say(f"{said}: each is removed after its last trial (--keep-images none).")
        else:
            say(f"{said}: use --keep-images none or --limit, or make room (`docker system df`).")

    def _missing(self, samples: Callable[[], Iterable[Sample]], here: set[str]) -> set[str]:
        """Return the names of the images that must be pulled. `here`: names of the images on this machine.

        If one of a sample's own images is on this machine, none is pulled for the sample. Otherwise its first image is
        pulled.
        """
        needed = (self.images_of(sample).own_images for sample in samples())
        return {own[0] for own in needed if own and here.isdisjoint(own)}


def make_run_images(benchmark: Benchmark, asked: ImagePolicy | None, *, may_order: bool) -> RunImages | None:
    """Return the images of a benchmark's run.

    Return None if the benchmark uses no images, or if its images are not known.
    """
    if not isinstance(benchmark, ContainerBenchmark) or benchmark.images_of is None:
        return None
    return RunImages(benchmark, benchmark.images_of, asked, may_order=may_order)
