"""Which trial an address means, in which table it was found, and from which comparison it was come to."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.web.pages.samples import sample_address, wanted_of
from benchwright.web.pages.shown import shown_attempt
from benchwright.web.run_trials import Row, RunTrials
from benchwright.web.trial_selection import TrialQuery
from benchwright.web.viewer import Viewer

COMPARISON = {"a": "a", "b": "b", "anyway": "anyway", "score": "score", "only": "changed"}
"""What an open comparison was asked for, and the names of that in the address of a trial."""


class Place(NamedTuple):
    """Which trial is meant: of which run, in which table it was found, which `comparison` is open (empty for none)."""

    run: str
    sample: str
    target: str | None
    repeat: int
    wanted: TrialQuery
    comparison: dict[str, str] = {}


def place_of(request: web.Request) -> Place:
    """The trial that the address names."""
    query = request.query
    repeat = query.get("repeat", "")
    wanted = msgspec.structs.replace(wanted_of(request), target=query.get("in", ""))
    return Place(
        request.match_info["run"],
        query.get("id", ""),
        query.get("target") or None,
        int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0,
        wanted,
        {name: query.get(given, "") for name, given in COMPARISON.items()} if query.get("a") else {},
    )


def address_at(place: Place, sample: str, target: str, repeat: int) -> str:
    """The address of another trial, found in the same table and with the same comparison open."""
    comparison = {given: place.comparison.get(name, "") for name, given in COMPARISON.items()}
    return sample_address(place.run, place.wanted, sample, target, repeat, **comparison)


def address_of(place: Place, row: Row) -> str:
    """The same for a row of the table."""
    return address_at(place, row.sample, row.target, row.repeat)


def find_trial(viewer: Viewer, place: Place) -> tuple[RunTrials, int]:
    """The trials of the run, and the row of the one that is meant.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    trials = viewer.trials(place.run)
    with trials.lock:
        number = trials.find(place.sample, place.target, place.repeat)
    if number is None:
        trials.read_all()
        with trials.lock:
            number = trials.find(place.sample, place.target, place.repeat)
    if number is None:
        raise web.HTTPNotFound(reason="The run has no such trial yet")
    return trials, number


def shown_trial(viewer: Viewer, place: Place) -> tuple[Row, dict[str, Any], str]:
    """A trial, the attempt at it that counts as templates want it, and its address.

    Raises:
        UserError: there is no such run.
        HTTPNotFound: it has no such trial.
    """
    trials, number = find_trial(viewer, place)
    with trials.lock:
        row, counting = trials.row(number), trials.table.trial(number)
        turn = trials.table.all_attempts(number).index(counting)
    shown = shown_attempt(trials.table.directory, counting, place.run, turn)
    return row, shown, address_of(place, row)
