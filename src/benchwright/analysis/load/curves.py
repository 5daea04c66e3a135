"""Load curves.

A load curve has a point for each level of a load measurement, with the rate that was served and the request
times.
"""

from __future__ import annotations

from benchwright.analysis.comparison.side_naming import side_letter
from benchwright.analysis.load.figure_records import TimeDistribution
from benchwright.analysis.load.figures import WindowFigures
from benchwright.analysis.load.level_results import level_plan_of
from benchwright.analysis.load.level_standstills import longest_undisturbed_requests
from benchwright.analysis.load.measurement_windows import find_window
from benchwright.analysis.load.records import LevelPlan, LoadLevel, LoadReport
from benchwright.analysis.load.requests import LevelRequests, read_requests
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable


class LoadPoint(Record, frozen=True):
    """A level on a load curve. `achieved`: answers per second.

    `ttft`, `latency`: times in the level's steady-state window.
    """

    level: LoadLevel
    run: str
    achieved: float
    ttft: TimeDistribution | None = None
    latency: TimeDistribution | None = None


class LoadCurve(Record, frozen=True):
    """The points of the levels of one measurement, the lowest load first. `id`: the tag of the measurement's runs."""

    letter: str
    id: str
    model: str
    task: str
    points: list[LoadPoint]


def load_curve_of(report: LoadReport, letter: str) -> LoadCurve:
    """Return the curve of a measurement. It has a point for each level with a steady rate."""
    points = [
        LoadPoint(one.level, one.run, one.achieved.value, one.ttft, one.latency)
        for one in report.levels
        if one.achieved is not None
    ]
    return LoadCurve(letter, report.id, report.model, report.task, points)


class LoadCurveCollector:
    """Collects the load levels among some runs, grouped by measurement."""

    def __init__(self) -> None:
        self._points: dict[str, list[LoadPoint]] = {}
        self._manifests: dict[str, Manifest] = {}

    def add(self, manifest: Manifest, table: RunTable) -> None:
        """Add a run if it is a load level. Ignore any other run.

        Raises:
            JournalError: If the journal, or the level's plan in the manifest, cannot be read.
        """
        plan = level_plan_of(manifest)
        if plan is None:
            return
        requests = longest_undisturbed_requests(read_requests(table), table.sessions.lag.standstills)
        point = _point(manifest, plan, requests)
        if point is not None:
            self._points.setdefault(plan.id, []).append(point)
            self._manifests[plan.id] = manifest

    def curves(self) -> list[LoadCurve]:
        """Return a curve for each measurement, the oldest first."""
        found = []
        for place, (identity, points) in enumerate(sorted(self._points.items())):
            manifest = self._manifests[identity]
            target = manifest.targets[0]
            model = manifest.typed_models.get(target.slot, target.model)
            points.sort(key=lambda point: float(point.level.concurrency or point.level.rate or 0.0))
            found.append(LoadCurve(side_letter(place), identity, model, manifest.task.name, points))
        return found


def _point(manifest: Manifest, plan: LevelPlan, requests: LevelRequests) -> LoadPoint | None:
    """Return the point of a level. Its figures are those that `load` shows.

    Return None if the level's window has no answer, or no steady rate.
    """
    found = find_window(requests, plan)
    if found is None:
        return None
    figures = WindowFigures(requests, found.window, open_loop=plan.level.is_open_loop)
    achieved = figures.achieved_rate
    if achieved is None or figures.counted_requests == figures.failed_requests:
        return None
    return LoadPoint(
        plan.level,
        manifest.id,
        achieved.value,
        figures.column_distribution("ttft"),
        figures.column_distribution("latency"),
    )
