"""The page that compares two runs.

It shows the result of `benchwright compare`, changed samples, and both conversations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aiohttp import web
from markupsafe import Markup

from benchwright.analysis.comparison.compare import ComparisonOptions
from benchwright.analysis.comparison.records import Comparison, ScoreChange, ScoreComparison
from benchwright.analysis.comparison.side_naming import side_names, with_side_names
from benchwright.analysis.report.records import Flip, TrialTexts
from benchwright.analysis.report.trial_texts import read_trial_texts
from benchwright.app.comparing import ComparisonWithTimes, compare_runs
from benchwright.reports.comparison.sentences import comparison_warnings, unescaped_line, verdict_lines
from benchwright.reports.html.comparison import render_comparison_part, render_flip_part
from benchwright.runs.manifest import Manifest
from benchwright.web.pages.runs import page_number
from benchwright.web.pages.trial_addresses import TrialPlace, trial_values
from benchwright.web.rendering import render_page
from benchwright.web.text import viewer_address
from benchwright.web.threads import run_in_thread
from benchwright.web.trial_selection import TrialQuery
from benchwright.web.viewer import VIEWER_KEY, Viewer

PAGE_SIZE = 20
"""Number of changed samples on one page."""

CHANGE_FILTERS = {"": "Flipped", "lost": "Lost", "won": "Won"}
"""Filters of the changed samples, with their labels on the page: all, worse in B than in A, better in B than in A."""

MAX_SELECTABLE_RUNS = 1000
"""Maximum number of runs from which A and B can be chosen. These are the newest runs."""


async def compare_page(request: web.Request) -> web.Response:
    """Serve the page on which two runs are chosen.

    If the query has `part`, serve only the comparison of the two runs.
    """
    query = request.query
    ticked = query.getall("run", [])[:2]
    if ticked:  # from the list of runs, in which the older one is below
        names = dict(zip("ba", ticked, strict=False))
        raise web.HTTPFound(viewer_address("/compare", **names))
    asked = {name: query.get(name, "") for name in ("a", "b", "anyway", "only", "score")}
    viewer, number = request.app[VIEWER_KEY], page_number(request)
    if query.get("part") == "result":
        return await run_in_thread(_result_part, viewer, asked, number)
    return await run_in_thread(_choice, viewer, asked, number)


def _choice(viewer: Viewer, asked: dict[str, str], number: int) -> web.Response:
    rows = viewer.runs.rows()[:MAX_SELECTABLE_RUNS]
    choices = [
        (name, f"{row.name}: {', '.join(row.models)} ({name})")
        for row in rows
        for name in _references(viewer.runs.manifest(row.id))
    ]
    there = bool(asked["a"] and asked["b"])
    return render_page(
        "compare.html",
        asked=asked,
        choices=choices,
        there=there,
        part=viewer_address("/compare", **asked, page=number, part="result"),
    )


def _references(manifest: Manifest) -> list[str]:
    """Return the references by which the targets of a run can be chosen.

    The reference is `ID` for a single target, and `ID@SLOT` for each of several targets.
    """
    slots = [target.slot for target in manifest.targets]
    return [manifest.id] if len(slots) == 1 else [f"{manifest.id}@{slot}" for slot in slots]


def _result_part(viewer: Viewer, asked: dict[str, str], number: int) -> web.Response:
    compared = _compared(viewer, asked["a"], asked["b"], anyway=bool(asked["anyway"]))
    found = compared.comparison
    shown = with_side_names(found)
    scores = [score for pair in found.pairs for score in pair.scores]
    score = next((one for one in scores if one.score == asked["score"]), scores[0] if scores else None)
    chosen = [] if score is None else list(_changes(score, asked["only"]))
    return render_page(
        "part_comparison.html",
        asked=asked,
        verdicts=[unescaped_line(line) for line in verdict_lines(shown)],
        warnings=[unescaped_line(line) for line in comparison_warnings(shown)],
        figures=render_comparison_part(found, compared.times),
        scores=[one.score for one in scores],
        score=score,
        changes=list(
            _flips(viewer, asked, found, score, chosen[(number - 1) * PAGE_SIZE : number * PAGE_SIZE])
        ),
        counts={name: sum(1 for _ in _changes(score, name)) if score else 0 for name in CHANGE_FILTERS},
        shown=CHANGE_FILTERS,
        number=number,
        pages=max(1, -(-len(chosen) // PAGE_SIZE)),
        url=lambda **changed: viewer_address("/compare", **{**asked, **changed}),
    )


def _flips(
    viewer: Viewer,
    asked: dict[str, str],
    found: Comparison,
    score: ScoreComparison | None,
    changes: Sequence[ScoreChange],
) -> Iterator[Markup]:
    """Yield the changed samples, each with both answers and with a link to both conversations."""
    a, b = (_side_reader(viewer, asked[name]) for name in ("a", "b"))
    letters = [run.letter for run in found.runs]
    for change in changes:
        won = score is not None and score.gain_of_change(change) > 0
        flip = Flip(change, won, texts_a=a(change), texts_b=b(change))
        yield render_flip_part(found, letters[0], letters[1], flip, _side_by_side(asked, change))


def _side_reader(viewer: Viewer, reference: str) -> Callable[[ScoreChange], TrialTexts | None]:
    """Return a function that, for a changed sample, reads the input and the answer of one of the two runs."""
    run, _, slot = reference.partition("@")
    trials = viewer.trials(run)
    trials.read_all()
    target = slot or viewer.runs.manifest(run).targets[0].slot

    def read(change: ScoreChange) -> TrialTexts | None:
        with trials.lock:
            number = trials.find(change.sample, target, change.repeat)
            trial = None if number is None else trials.table.read_trial(number)
        return None if trial is None else read_trial_texts(trials.table.directory, trial)

    return read


def _compared(viewer: Viewer, a: str, b: str, *, anyway: bool) -> ComparisonWithTimes:
    """Compare two stored runs, each given as `ID` or `ID@SLOT`. Results are cached.

    Raises:
        UserError: If there is no such run or target, or nothing to compare.
    """
    references, sizes = [], []
    for name in (a, b):
        run, _, slot = name.partition("@")
        row = viewer.runs.row(run)
        directory = viewer.runs.directory(run)
        references.append(f"{directory}@{slot}" if slot else str(directory))
        sizes.append((row.size, row.state))
    key = (a, b, anyway, tuple(sizes))
    return viewer.comparisons.get_or_compute(
        key, lambda: compare_runs(references, ComparisonOptions(allow_incomparable=anyway))
    )


def _changes(score: ScoreComparison, only: str) -> Iterator[ScoreChange]:
    """Yield the changed samples, from the largest loss to the largest win."""
    for change in sorted(score.changes, key=score.gain_of_change):
        gain = score.gain_of_change(change)
        if (only != "lost" or gain < 0) and (only != "won" or gain > 0):
            yield change


def _side_by_side(asked: dict[str, str], change: ScoreChange) -> str:
    return viewer_address(
        "/compare/sample", a=asked["a"], b=asked["b"], id=change.sample, repeat=change.repeat or "",
        only=asked["only"], score=asked["score"], anyway=asked["anyway"],
    )  # fmt: skip


async def sample_comparison_page(request: web.Request) -> web.Response:
    """Serve the page with both runs' conversations of a sample."""
    query = request.query
    asked = {name: query.get(name, "") for name in ("a", "b", "anyway", "only", "score")}
    repeat = query.get("repeat", "")
    number = int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0
    return await run_in_thread(_both, request.app[VIEWER_KEY], asked, query.get("id", ""), number)


def _both(viewer: Viewer, asked: dict[str, str], sample: str, repeat: int) -> web.Response:
    sides = []
    for letter in ("a", "b"):
        run, _, slot = asked[letter].partition("@")
        manifest = viewer.runs.manifest(run)
        place = TrialPlace(run, sample, slot or manifest.targets[0].slot, repeat, TrialQuery(), asked)
        sides.append({"letter": letter.upper(), "run": run, **_side(viewer, place, manifest)})
    names = side_names([side["model"] for side in sides], [side["letter"] for side in sides])
    before, after = (
        None if change is None else _side_by_side(asked, change)
        for change in neighbouring_changes(viewer, asked, sample, repeat)
    )
    return render_page(
        "compare_sample.html",
        sample=sample,
        repeat=repeat,
        sides=sides,
        names=names,
        up=viewer_address("/compare", **asked),
        before=before,
        after=after,
    )


def _side(viewer: Viewer, place: TrialPlace, manifest: Manifest) -> dict[str, Any]:
    model = next((target.model for target in manifest.targets if target.slot == place.target), "")
    try:
        row, attempt, href = trial_values(viewer, place)
    except web.HTTPNotFound:
        return {"model": model, "row": None, "attempt": None, "href": ""}
    return {"model": model, "row": row, "attempt": attempt, "href": href}


def neighbouring_changes(
    viewer: Viewer, asked: dict[str, str], sample: str, repeat: int
) -> tuple[ScoreChange | None, ScoreChange | None]:
    """Return the changed samples before and after this sample, in the order of the comparison's table.

    If this sample is not in the table, return None and the first changed sample.

    Raises:
        UserError: If there is no such run, or nothing to compare.
    """
    found = _compared(viewer, asked["a"], asked["b"], anyway=bool(asked["anyway"])).comparison
    scores = [score for pair in found.pairs for score in pair.scores]
    score = next((one for one in scores if one.score == asked["score"]), scores[0] if scores else None)
    changes = [] if score is None else list(_changes(score, asked["only"]))
    places = [(change.sample, change.repeat) for change in changes]
    if (sample, repeat) not in places:
        return None, changes[0] if changes else None
    place = places.index((sample, repeat))
    before = changes[place - 1] if place else None
    return before, changes[place + 1] if place + 1 < len(changes) else None
