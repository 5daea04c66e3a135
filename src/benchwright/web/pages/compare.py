"""Two runs side by side: the answer of `benchwright compare`, the samples that changed, both conversations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from aiohttp import web

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.names import named, side_names
from benchwright.analysis.comparison.records import Change, Comparison, ScoreComparison
from benchwright.reports.comparison.tables import blocks
from benchwright.reports.comparison.words import Cell, Foreign, Line, notes, verdicts, warnings
from benchwright.runs.manifest import Manifest
from benchwright.web.off_loop import off_loop
from benchwright.web.pages.places import Place, shown_trial
from benchwright.web.pages.runs import page_number
from benchwright.web.rendering import page
from benchwright.web.text import address
from benchwright.web.trial_selection import TrialQuery
from benchwright.web.viewer import VIEWER, Viewer

PAGE = 50
"""Changed samples on one page."""

SHOWN = {"": "Flipped", "lost": "Lost", "won": "Won"}
"""Which of the changed samples: all, those that got worse from A to B, those that got better."""

MOST_OFFERED = 1000
"""Runs that the choice of A and B offers, the newest."""


async def compare_page(request: web.Request) -> web.Response:
    """The choice of two runs, and what they come to."""
    query = request.query
    ticked = query.getall("run", [])[:2]
    if ticked:  # from the list, where the older one stands below
        names = dict(zip("ba", ticked, strict=False))
        raise web.HTTPFound(address("/compare", **names))
    asked = {name: query.get(name, "") for name in ("a", "b", "anyway", "only", "score")}
    viewer, number = request.app[VIEWER], page_number(request)
    if query.get("part") == "result":
        return await off_loop(_result_part, viewer, asked, number)
    return await off_loop(_choice, viewer, asked, number)


def _choice(viewer: Viewer, asked: dict[str, str], number: int) -> web.Response:
    rows = viewer.runs.rows()[:MOST_OFFERED]
    choices = [
        (name, f"{row.name}: {', '.join(row.models)} ({name})")
        for row in rows
        for name in _references(viewer.runs.manifest(row.id))
    ]
    there = bool(asked["a"] and asked["b"])
    return page(
        "compare.html",
        asked=asked,
        choices=choices,
        there=there,
        part=address("/compare", **asked, page=number, part="result"),
    )


def _references(manifest: Manifest) -> list[str]:
    """How the targets of a run are named in an address."""
    slots = [target.slot for target in manifest.targets]
    return [manifest.id] if len(slots) == 1 else [f"{manifest.id}@{slot}" for slot in slots]


def _result_part(viewer: Viewer, asked: dict[str, str], number: int) -> web.Response:
    found = _compared(viewer, asked["a"], asked["b"], anyway=bool(asked["anyway"]))
    shown = named(found)
    scores = [score for pair in found.pairs for score in pair.scores]
    score = next((one for one in scores if one.score == asked["score"]), scores[0] if scores else None)
    chosen = [] if score is None else list(_changes(score, asked["only"]))
    return page(
        "part_comparison.html",
        asked=asked,
        names=[run.name for run in found.runs],
        verdicts=[_words(line) for line in verdicts(shown)],
        warnings=[_words(line) for line in warnings(shown)],
        notes=[_words(line) for line in notes(shown)],
        blocks=[_table(block) for block in blocks(_without_changes(shown))],
        refused=any(pair.refused for pair in found.pairs),
        scores=[one.score for one in scores],
        score=score,
        changes=[
            (change, _side_by_side(asked, change)) for change in chosen[(number - 1) * PAGE : number * PAGE]
        ],
        counts={name: sum(1 for _ in _changes(score, name)) if score else 0 for name in SHOWN},
        shown=SHOWN,
        number=number,
        pages=max(1, -(-len(chosen) // PAGE)),
        url=lambda **changed: address("/compare", **{**asked, **changed}),
    )


def _compared(viewer: Viewer, a: str, b: str, *, anyway: bool) -> Comparison:
    """The comparison of two runs of the store, each `ID` or `ID@SLOT`.

    Raises:
        UserError: there is no such run or target, or there is nothing to compare.
    """
    references, sizes = [], []
    for name in (a, b):
        run, _, slot = name.partition("@")
        row = viewer.runs.row(run)
        directory = viewer.runs.directory(run)
        references.append(f"{directory}@{slot}" if slot else str(directory))
        sizes.append((row.size, row.state))
    key = (a, b, anyway, tuple(sizes))
    return viewer.comparisons.get(
        key, lambda: compare(references, ComparisonOptions(anyway=anyway)).comparison
    )


def _changes(score: ScoreComparison, only: str) -> Iterator[Change]:
    """What changed, worst first: the biggest losses, then the smallest, then what was won."""
    for change in sorted(score.changes, key=lambda one: one.b - one.a):
        if (only != "lost" or change.b < change.a) and (only != "won" or change.b > change.a):
            yield change


def _without_changes(found: Comparison) -> Comparison:
    """The page shows the changes itself."""
    replace = msgspec.structs.replace
    pairs = [
        replace(pair, scores=[replace(score, changes=[]) for score in pair.scores]) for pair in found.pairs
    ]
    return replace(found, pairs=pairs)


def _words(line: Line) -> str:
    return "".join(map(_cell, line.cells))


def _cell(cell: Cell) -> str:
    return cell.text if isinstance(cell, Foreign) else cell


def _table(block: Any) -> dict[str, Any]:
    return {
        "title": block.title,
        "columns": [_cell(column) for column in block.columns],
        "left": block.left,
        "note": block.note,
        "rows": [[_cell(cell) for cell in row] for row in block.rows],
    }


def _side_by_side(asked: dict[str, str], change: Change) -> str:
    return address(
        "/compare/sample", a=asked["a"], b=asked["b"], id=change.sample, repeat=change.repeat or "",
        only=asked["only"], score=asked["score"], anyway=asked["anyway"],
    )  # fmt: skip


async def compare_sample(request: web.Request) -> web.Response:
    """Both conversations of one sample."""
    query = request.query
    asked = {name: query.get(name, "") for name in ("a", "b", "anyway", "only", "score")}
    repeat = query.get("repeat", "")
    number = int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0
    return await off_loop(_both, request.app[VIEWER], asked, query.get("id", ""), number)


def _both(viewer: Viewer, asked: dict[str, str], sample: str, repeat: int) -> web.Response:
    sides = []
    for letter in ("a", "b"):
        run, _, slot = asked[letter].partition("@")
        manifest = viewer.runs.manifest(run)
        place = Place(run, sample, slot or manifest.targets[0].slot, repeat, TrialQuery(), asked)
        sides.append({"letter": letter.upper(), "run": run, **_side(viewer, place, manifest)})
    names = side_names([side["model"] for side in sides], [side["letter"] for side in sides])
    before, after = (
        None if change is None else _side_by_side(asked, change)
        for change in changed_around(viewer, asked, sample, repeat)
    )
    return page(
        "compare_sample.html",
        sample=sample,
        repeat=repeat,
        sides=sides,
        names=names,
        up=address("/compare", **asked),
        before=before,
        after=after,
    )


def _side(viewer: Viewer, place: Place, manifest: Manifest) -> dict[str, Any]:
    model = next((target.model for target in manifest.targets if target.slot == place.target), "")
    try:
        row, attempt, href = shown_trial(viewer, place)
    except web.HTTPNotFound:
        return {"model": model, "row": None, "attempt": None, "href": ""}
    return {"model": model, "row": row, "attempt": attempt, "href": href}


def changed_around(
    viewer: Viewer, asked: dict[str, str], sample: str, repeat: int
) -> tuple[Change | None, Change | None]:
    """The changed samples before and after one, as the table of a comparison has them; behind others comes the first.

    Raises:
        UserError: there is no such run, or there is nothing to compare.
    """
    found = _compared(viewer, asked["a"], asked["b"], anyway=bool(asked["anyway"]))
    scores = [score for pair in found.pairs for score in pair.scores]
    score = next((one for one in scores if one.score == asked["score"]), scores[0] if scores else None)
    changes = [] if score is None else list(_changes(score, asked["only"]))
    places = [(change.sample, change.repeat) for change in changes]
    if (sample, repeat) not in places:
        return None, changes[0] if changes else None
    place = places.index((sample, repeat))
    before = changes[place - 1] if place else None
    return before, changes[place + 1] if place + 1 < len(changes) else None
