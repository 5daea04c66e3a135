"""Load curves: what each level of a measurement served, and how long its requests took."""

from __future__ import annotations

import msgspec

from benchwright.analysis.comparison.names import letter_of
from benchwright.analysis.load.figures import Figures, find_window
from benchwright.analysis.load.reading import default_warmup
from benchwright.analysis.load.records import Level, Spread
from benchwright.analysis.load.requests import Requests, read_requests
from benchwright.errors import JournalError
from benchwright.records import UNREADABLE, Record
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


class Measurements:
    """The levels of load among some runs, by the measurement that they are of."""

    def __init__(self) -> None:
        self._points: dict[str, list[LoadPoint]] = {}
        self._manifests: dict[str, Manifest] = {}

    def add(self, manifest: Manifest, table: RunTable) -> None:
        """Takes a run in, if it is a level.

        Raises:
            JournalError: the journal cannot be read, or what the manifest says of the level.
        """
        if "load" not in manifest.about:
            return
        try:
            about = msgspec.convert(manifest.about["load"], _About)
        except UNREADABLE as error:
            raise JournalError(f"{manifest.id} does not say which level of load it is ({error}).") from None
        point = _point(manifest, about, read_requests(table))
        if point is not None:
            self._points.setdefault(about.id, []).append(point)
            self._manifests[about.id] = manifest

    def curves(self) -> list[LoadCurve]:
        """A curve for each measurement, the oldest first."""
        found = []
        for place, (identity, points) in enumerate(sorted(self._points.items())):
            manifest = self._manifests[identity]
            target = manifest.targets[0]
            model = manifest.typed_models.get(target.slot, target.model)
            points.sort(key=lambda point: float(point.level.concurrency or point.level.rate or 0.0))
            found.append(LoadCurve(letter_of(place), identity, model, manifest.task.name, points))
        return found


def _point(manifest: Manifest, about: _About, requests: Requests) -> LoadPoint | None:
    """The figures of a level as `load` has them; None where its window is empty."""
    n = int(requests.ok.size)
    warmup = default_warmup(about.level, n) if about.warmup is None else about.warmup
    window = find_window(requests, warmup, about.cooldown) if n else None
    if window is None:
        return None
    figures = Figures(requests, window, open_loop=about.level.open)
    return LoadPoint(
        about.level, manifest.id, figures.achieved, figures.spread("ttft"), figures.spread("latency")
    )
