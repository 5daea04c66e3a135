"""The table of a run's trials: the query of the table, its rows, and the addresses that contain the query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from aiohttp import web

from benchwright.analysis.run_list import RunRow
from benchwright.analysis.scores import passing_score
from benchwright.analysis.suspicious_passes import kind_in_words
from benchwright.analysis.trial_preview import read_preview, trial_preview
from benchwright.reports.html.text import one_line
from benchwright.runs.manifest import Manifest, display_names
from benchwright.web.pages.runs import page_number
from benchwright.web.run_trials import RunTrials
from benchwright.web.text import viewer_address
from benchwright.web.trial_selection import (
    FILTER_EXPLANATIONS,
    SORT_ORDERS,
    TRIAL_FILTERS,
    TrialQuery,
    select_trials,
)
from benchwright.web.viewer import Viewer

PAGE_SIZE = 50
"""Number of trials on one page."""

MAX_READ_WAIT = 0.2
"""Maximum seconds for which a page waits until a long journal is read.

Trials that are read later are added to the page.
"""

MAX_CONVERSATION_BYTES = 2**25
"""Maximum number of bytes of conversations that are read for one page.

Trials beyond that limit are shown without input and answer.
"""


def parse_trial_query(request: web.Request) -> TrialQuery:
    """Parse the table's query from a request."""
    query = request.query
    return TrialQuery(
        filter=query.get("only", "all") if query.get("only") in TRIAL_FILTERS else "all",
        search_words=query.get("q", ""),
        target=query.get("target", ""),
        order=query.get("order", "begun") if query.get("order") in SORT_ORDERS else "begun",
        page=page_number(request),
    )


def trials_table_address(run: str, wanted: TrialQuery, **changes: Any) -> str:
    """Return the address of a run, with a query for its table of trials."""
    return viewer_address(f"/runs/{run}", **_query(msgspec.structs.replace(wanted, **changes)))


def sample_address(
    run: str, wanted: TrialQuery, sample: str, target: str, repeat: int, **comparison: str
) -> str:
    """Return the address of a trial, with the query of the table of trials and with the open comparison."""
    found_in = _query(msgspec.structs.replace(wanted, page=1))
    found_in["in"] = found_in.pop("target")
    return viewer_address(
        f"/runs/{run}/sample", id=sample, target=target, repeat=repeat or "", **found_in, **comparison
    )


def _query(wanted: TrialQuery) -> dict[str, Any]:
    return {
        "only": "" if wanted.filter == "all" else wanted.filter,
        "q": wanted.search_words,
        "target": wanted.target,
        "order": "" if wanted.order == "begun" else wanted.order,
        "page": "" if wanted.page == 1 else wanted.page,
    }


def trials_table_values(
    viewer: Viewer, row: RunRow, manifest: Manifest, wanted: TrialQuery
) -> dict[str, Any]:
    """Return the template values for one page of the table of trials."""
    trials = viewer.trials(row.id)
    whole = trials.read(MAX_READ_WAIT)
    with trials.lock:
        table = trials.table
        found = select_trials(manifest, table, wanted, PAGE_SIZE)
        return {
            "wanted": wanted,
            "lines": list(_lines(trials, found.row_numbers)),
            "count": found.total,
            "counts": found.counts,
            "pages": max(1, -(-found.total // PAGE_SIZE)),
            "position": table.bytes_read,
            "read": None if whole else table.bytes_read / max(1, table.journal_size()),
            "unreadable": table.unreadable,
            "scorers": list(table.scores),
            "passing": passing_score(manifest, table),
            "targets": table.targets.names[:],
            "names": display_names(manifest),
            "filters": {name: told for name, (told, _) in TRIAL_FILTERS.items()},
            "explained": FILTER_EXPLANATIONS,
            "url": lambda **changes: trials_table_address(row.id, wanted, **changes),
            "sample_url": lambda line: sample_address(
                row.id, wanted, line["row"].sample, line["row"].target, line["row"].repeat
            ),
        }


def _lines(trials: RunTrials, numbers: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table. Each has the trial, the input, both answers, the reason for a failure, and flags."""
    directory, left = trials.table.directory, MAX_CONVERSATION_BYTES
    for number in numbers:
        trial = trials.table.read_trial(number)
        left -= trial.record.body[1]
        told = read_preview(directory, trial) if left >= 0 else trial_preview(trial, None)
        spans = (score.span for score in trial.scores.values() if score.span)
        yield {
            "row": trials.row(number),
            "input": one_line(told.input or ""),
            "target": one_line(told.target or "", 60),
            "answer": one_line(next(spans, told.answer or ""), 60),
            "reason": one_line(trial.record.reason or ""),
            "flags": [kind_in_words(kind) for kind in trials.table.flagged.flag_kinds(number)],
        }
