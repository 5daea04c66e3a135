"""Load curves: what each level of a measurement served, and how long its requests took."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from benchwright.analysis.load.figures import Figures, find_window
from benchwright.analysis.load.reading import default_warmup
from benchwright.analysis.load.records import Level, Spread
from benchwright.analysis.load.requests import read_requests
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.stats.windows import Cut


class LoadPoint(Record, frozen=True):
    """A level: answers per second, and the times of its requests in the window that warm-up and cool-down leave."""

    level: Level
    run: str
    achieved: float
    ttft: Spread | None = None
    latency: Spread | None = None


class LoadCurve(Record, frozen=True):
    """The levels of one measurement, the lowest load first; `id` is the tag of its runs."""

    letter: str
    id: str
    model: str
    task: str
    points: list[LoadPoint]


class _About(Record, frozen=True):
    """What the manifest of a level says of it; a `warmup` of None is the default one."""

    id: str
    level: Level
    warmup: Cut | None = None
    cooldown: Cut = Cut()


def load_point(manifest: Manifest, table: RunTable) -> tuple[str, LoadPoint] | None:
    """The measurement that a run is a level of, and its point; None where it is none, or too short.

    Raises:
        JournalError: the journal cannot be read.
    """
    detail: Any = manifest.about.get("load")
    if detail is None:
        return None
    about = msgspec.convert(detail, _About)
    requests = read_requests(table)
    n = int(requests.ok.size)
    warmup = default_warmup(about.level, n) if about.warmup is None else about.warmup
    window = find_window(requests, warmup, about.cooldown) if n else None
    if window is None:
        return None
    figures = Figures(requests, window, open_loop=about.level.open)
    return about.id, LoadPoint(
        about.level, manifest.id, figures.achieved, figures.spread("ttft"), figures.spread("latency")
    )


def load_curve(letter: str, identity: str, manifest: Manifest, points: Iterable[LoadPoint]) -> LoadCurve:
    """A measurement's curve; `manifest` is that of any of its levels."""
    target = manifest.targets[0]
    return LoadCurve(
        letter,
        identity,
        manifest.typed_models.get(target.slot, target.model),
        manifest.task.name,
        sorted(points, key=lambda point: float(point.level.concurrency or point.level.rate or 0.0)),
    )
