"""Which images a task needs, and what they are built on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.harbor.environment import built_name
from benchwright.catalog.harbor.rows import settings_of
from benchwright.catalog.harbor.settings import Build
from benchwright.records import Sample

_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", re.IGNORECASE | re.MULTILINE)
SCRATCH = "scratch"


def images_of(sample: Sample, folder: Path, variant: str) -> TaskImages:
    """The image that a task names, or the one that is built for it; those of its neighbours.

    Its family is the base image of its Dockerfile, which an image that is pulled was made by as well.
    """
    settings = settings_of(sample)
    builds = [(sample.id, settings.build)]
    builds += [(f"{sample.id}-{one.name}", one.build) for one in settings.neighbours]
    built = [(name, build) for name, build in builds if build is not None]
    named = [settings.image] if settings.image is not None else []
    bases = [base for _, build in built for base in _bases(folder / build.context, build)]
    return TaskImages(
        own=(*named, *(built_name(variant, name) for name, _ in built)),
        family=bases[0] if bases else "",
        common=(*(one.image for one in settings.neighbours if one.image is not None), *bases),
    )


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
