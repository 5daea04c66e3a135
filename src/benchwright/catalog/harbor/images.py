"""Which images a task needs, and what they are built on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.harbor.environment import built_name
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Build, Settings, Step
from benchwright.records import Sample

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE | re.MULTILINE)
SCRATCH = "scratch"


def images_of(sample: Sample, folder: Path, variant: str) -> TaskImages:
    """The image that a task names, or the one that is built for it; those of its neighbours.

    Its family is the base image of its Dockerfile, which an image that is pulled was made by as well.
    """
    settings = settings_of(sample)
    every = {sample.id: settings}
    for step in settings.steps:
        if step.verifier is not None:
            every.setdefault(name_of_verifier(sample.id, settings, step), step.verifier)
    builds = [part for name, one in every.items() for part in _builds(name, one)]
    named = dict.fromkeys(one.image for one in every.values() if one.image is not None)
    bases = [base for _, build in builds for base in _bases(folder / build.context, build)]
    neighbours = [neighbour for one in every.values() for neighbour in one.neighbours]
    return TaskImages(
        own=(*named, *(built_name(variant, name) for name, _ in builds)),
        family=bases[0] if bases else "",
        common=(*(one.image for one in neighbours if one.image is not None), *bases),
    )


def name_of_verifier(task: str, settings: Settings, step: Step) -> str:
    """After what an image is called that is built for a step's tests: the task's own, where they have the same."""
    if step.verifier is not None and step.verifier.build == settings.build:
        return task
    return f"{task}-{step.name}-tests" if step.name else f"{task}-tests"


def _builds(name: str, settings: Settings) -> Iterator[tuple[str, Build]]:
    """What is built for a container and its neighbours, each with the name of its image."""
    if settings.build is not None:
        yield name, settings.build
    for one in settings.neighbours:
        if one.build is not None:
            yield f"{name}-{one.name}", one.build


def _bases(context: Path, build: Build) -> Iterator[str]:
    """The images that a Dockerfile begins with, its own stages left out; the last one first."""
    try:
        text = (context / build.dockerfile).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    found = _FROM.findall(text)
    stages = {name for _, name in found if name}
    for base, _ in reversed(found):
        if base not in stages and base != SCRATCH and "$" not in base:
            yield base
