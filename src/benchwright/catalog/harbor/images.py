"""The images that a task needs, and their base images."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.harbor.environment import built_image_name
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Build, Step, TaskSettings
from benchwright.records import Sample

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE | re.MULTILINE)
EMPTY_IMAGE = "scratch"


def images_of(sample: Sample, folder: Path, variant: str) -> TaskImages:
    """Return the images of a task: those of the agent, the tests and the neighbours, which are named or built.

    The family (images that share layers) is the base image in the Dockerfile. This holds for a pulled image,
    too, because it was built from that Dockerfile.
    """
    settings = settings_of(sample)
    every = {sample.id: settings}
    for step in settings.steps:
        if step.verifier is not None:
            every.setdefault(verifier_image_name(sample.id, settings, step), step.verifier)
    builds = [part for name, one in every.items() for part in _builds(name, one)]
    named = dict.fromkeys(one.image for one in every.values() if one.image is not None)
    bases = [base for _, build in builds for base in _bases(folder / build.context, build)]
    neighbours = [neighbour for one in every.values() for neighbour in one.neighbours]
    return TaskImages(
        own_images=(*named, *(built_image_name(variant, name) for name, _ in builds)),
        image_family=bases[0] if bases else "",
        shared_images=(*(one.image for one in neighbours if one.image is not None), *bases),
    )


def verifier_image_name(task: str, settings: TaskSettings, step: Step) -> str:
    """Return the name for the image of a step's tests.

    If this image has the same build as the task's image, return the name of the task's image.
    """
    if step.verifier is not None and step.verifier.build == settings.build:
        return task
    return f"{task}-{step.name}-tests" if step.name else f"{task}-tests"


def _builds(name: str, settings: TaskSettings) -> Iterator[tuple[str, Build]]:
    """Yield (name, build) for each image to build, for a container and its neighbours."""
    if settings.build is not None:
        yield name, settings.build
    for one in settings.neighbours:
        if one.build is not None:
            yield f"{name}-{one.name}", one.build


def _bases(context: Path, build: Build) -> Iterator[str]:
    """Yield the external base images in a Dockerfile. The last one comes first.

    Stages that the Dockerfile defines itself are left out.
    """
    try:
        text = (context / build.dockerfile).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    found = _FROM.findall(text)
    stages = {name for _, name in found if name}
    for base, _ in reversed(found):
        if base not in stages and base != EMPTY_IMAGE and "$" not in base:
            yield base
