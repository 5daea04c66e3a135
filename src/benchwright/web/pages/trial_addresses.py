"""Addresses of trials.

An address contains the trial, the query of the table from which it was opened, and an open comparison.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.web.pages.attempt import attempt_values
from benchwright.web.pages.trials_table import parse_trial_query, sample_address
from benchwright.web.run_trials import RunTrials, TrialRow
from benchwright.web.trial_selection import TrialQuery
from benchwright.web.viewer import Viewer

COMPARISON_PARAMETERS = {"a": "a", "b": "b", "anyway": "anyway", "score": "score", "only": "changed"}
"""Mapping from query parameters of the comparison page to query parameters in the address of a trial."""


class TrialPlace(NamedTuple):
    """A trial of a run.

    It also has the query of the table from which the trial was opened, and the open comparison ({} for none).
    """

    run: str
    sample: str
    target: str | None
    repeat: int
    query: TrialQuery
    comparison: dict[str, str] = {}


def parse_trial_place(request: web.Request) -> TrialPlace:
    """Return the trial that the address of a request names."""
    query = request.query
    repeat = query.get("repeat", "")
    wanted = msgspec.structs.replace(parse_trial_query(request), target=query.get("in", ""))
    return TrialPlace(
        request.match_info["run"],
        query.get("id", ""),
        query.get("target") or None,
        int(repeat) if repeat.isdecimal() and len(repeat) < 9 else 0,
        wanted,
        {name: query.get(given, "") for name, given in COMPARISON_PARAMETERS.items()}
        if query.get("a")
        else {},
    )


def other_trial_address(place: TrialPlace, sample: str, target: str, repeat: int) -> str:
    """Return the address of another trial. The table's query and the open comparison are kept."""
    comparison = {given: place.comparison.get(name, "") for name, given in COMPARISON_PARAMETERS.items()}
    return sample_address(place.run, place.query, sample, target, repeat, **comparison)


def row_address(place: TrialPlace, row: TrialRow) -> str:
    """Return the address of the trial in a row of the table. The table's query and the open comparison are kept."""
    return other_trial_address(place, row.sample, row.target, row.repeat)


def find_trial(viewer: Viewer, place: TrialPlace) -> tuple[RunTrials, int]:
    """Return the trials of a run, and the row number of a trial.

    Raises:
        UserError: If there is no such run.
        HTTPNotFound: If the run has no such trial.
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


def trial_values(viewer: Viewer, place: TrialPlace) -> tuple[TrialRow, dict[str, Any], str]:
    """Return three values: the row of a trial, the template values of the attempt that counts, and the trial's address.

    Raises:
        UserError: If there is no such run.
        HTTPNotFound: If the run has no such trial.
    """
    trials, number = find_trial(viewer, place)
    with trials.lock:
        row, counting = trials.row(number), trials.table.read_trial(number)
        turn = trials.table.read_attempts(number).index(counting)
    shown = attempt_values(trials.table.directory, counting, place.run, turn)
    return row, shown, row_address(place, row)
