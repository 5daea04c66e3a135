"""The page of one run: its facts, summary and trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import msgspec
from aiohttp import web

from benchwright.analysis.request_lines import request_lines
from benchwright.analysis.run_list import RunRow
from benchwright.endpoint.card import Card
from benchwright.formats import format_duration
from benchwright.reports.comparison.sentences import unescaped_line
from benchwright.reports.decision import decision_lines
from benchwright.reports.html.plots import decision_plots
from benchwright.reports.summary import interval_text
from benchwright.runs.cards import card_lines, read_cards
from benchwright.runs.manifest import Manifest
from benchwright.runs.tags_and_notes import MAX_NOTE_LENGTH, set_note
from benchwright.web.figures import compute_figures
from benchwright.web.live_updates import PageState, send_changes
from benchwright.web.pages.pack import pack_values
from benchwright.web.pages.trials_table import MAX_READ_WAIT, parse_trial_query, trials_table_values
from benchwright.web.rendering import render_page
from benchwright.web.threads import run_in_thread
from benchwright.web.trial_selection import SORT_ORDERS, TrialQuery
from benchwright.web.viewer import VIEWER_KEY, Viewer

MAX_INLINE_JOURNAL_BYTES = 2 * 2**20
"""Maximum size in bytes of a journal whose summary is part of the page.

If the journal is larger, the summary is loaded later.
"""

FACTS_SHOWN_IN_MATRIX = frozenset({"models", "scenarios", "categories", "cards"})
"""Names of facts about a pack's run that the page leaves out. Its matrix of scenarios by models already shows them."""


async def run_page(request: web.Request) -> web.Response:
    """Serve the page of a run.

    If the query has `part`, serve only that part of the page, such as the summary or the trials.
    """
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]
    part = request.query.get("part", "")
    if part == "samples":
        return await run_in_thread(_samples_part, viewer, run, parse_trial_query(request))
    if part in PAGE_PARTS:
        return await run_in_thread(_part, viewer, run, part)
    return await run_in_thread(_whole, viewer, run, parse_trial_query(request))


def _whole(viewer: Viewer, run: str, wanted: TrialQuery) -> web.Response:
    row, manifest = viewer.runs.row(run), viewer.runs.manifest(run)
    samples = trials_table_values(viewer, row, manifest, wanted)
    small = row.size <= MAX_INLINE_JOURNAL_BYTES
    return render_page(
        "run.html",
        row=row,
        manifest=manifest,
        event_id=_event_id(row, samples["position"]),
        facts=_facts(manifest, read_cards(viewer.runs.directory(run))),
        small=small,
        orders=SORT_ORDERS,
        figures=_figures(row),
        longest_note=MAX_NOTE_LENGTH,
        **(_summary(viewer, row, manifest) if small else {}),
        **(pack_values(viewer, row, manifest) if manifest.kind == "pack" else {}),
        **_actions(viewer, row, manifest),
        **samples,
    )


def _part(viewer: Viewer, run: str, part: str) -> web.Response:
    row, manifest = viewer.runs.row(run), viewer.runs.manifest(run)
    values = {"row": row, "manifest": manifest, **PAGE_PARTS[part](viewer, row, manifest)}
    return render_page(f"part_{part}.html", **values)


def _summary(viewer: Viewer, row: RunRow, manifest: Manifest) -> dict[str, Any]:
    running = row.state == "running"
    made, up_to_date = viewer.figures(row.id, lambda: _figures_of(viewer, manifest), running=running)
    return {**made, "up_to_date": up_to_date}


def _figures_of(viewer: Viewer, manifest: Manifest) -> dict[str, Any]:
    """Return the template values for a run's figures: its summary (as in `benchwright show`) and charts.

    They are computed from all that is in the run's journal now.
    """
    trials = viewer.trials(manifest.id)
    trials.read_all()
    with trials.lock:
        made = compute_figures(manifest, trials.table)
    return {
        "summary": made.summary,
        "charts": made.targets,
        "decision": [] if made.summary.decision is None else list(decision_lines(made.summary.decision)),
        "origin": made.summary.origin.lines if made.summary.origin else [],
        "closing": decision_plots(made.summary.decision),
        "plain_line": unescaped_line,
        "interval_text": interval_text,
        "request_lines": request_lines,
    }


def _actions(viewer: Viewer, row: RunRow, _: Manifest) -> dict[str, Any]:
    return {"started": viewer.started.last_of_run(row.id)}


def _nothing(*_: object) -> dict[str, Any]:
    return {}


PAGE_PARTS: dict[str, Callable[[Viewer, RunRow, Manifest], dict[str, Any]]] = {
    "summary": _summary,
    "pack": pack_values,
    "actions": _actions,
    "state": _nothing,
}
"""Parts of the page that can be requested separately: name of the part -> function for its template values."""


def _samples_part(viewer: Viewer, run: str, wanted: TrialQuery) -> web.Response:
    row, manifest = viewer.runs.row(run), viewer.runs.manifest(run)
    return render_page(
        "part_samples.html", row=row, manifest=manifest, **trials_table_values(viewer, row, manifest, wanted)
    )


def _facts(manifest: Manifest, cards: Mapping[str, Card]) -> dict[str, Any]:
    """Return the facts of a run by name: targets, data, settings, versions.

    `cards`: capability cards of the endpoints, by slot.
    """
    facts: dict[str, Any] = {"Kind": manifest.kind, "Run": manifest.id}
    for target in manifest.targets:
        typed = manifest.typed_models.get(target.slot, target.model)
        facts[f"Model ({target.slot})"] = f"{typed} at {target.base_url}"
        if card := cards.get(target.slot):
            found = "; ".join(f"{title}: {said}" for title, said in card_lines(card))
            facts[f"Endpoint ({target.slot})"] = found
    facts["Data"] = ", ".join(
        f"{data.path} ({data.samples:,} from {data.offset:,}, xxh3 {data.xxh3[:12]})"
        for data in manifest.data
    )
    facts["Scorers"] = ", ".join(scorer.name for scorer in manifest.scorers)
    facts["Repeats"] = manifest.repeats
    facts["Concurrency"] = manifest.concurrency or "auto"
    facts |= {name: _plain(value) for name, value in manifest.settings.items()}
    facts |= {
        name: _plain(value) for name, value in manifest.about.items() if name not in FACTS_SHOWN_IN_MATRIX
    }
    facts["Versions"] = ", ".join(f"{name} {version}" for name, version in manifest.versions.items())
    return {name.replace("_", " "): value for name, value in facts.items() if value not in ("", None)}


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


async def save_note(request: web.Request) -> NoReturn:
    """Store the note that the user has sent by a form with the run."""
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]
    text = str((await request.post()).get("note", ""))
    await run_in_thread(lambda: set_note(str(viewer.runs.directory(run)), text))
    raise web.HTTPSeeOther(f"/runs/{run}")


async def stream_run_updates(request: web.Request) -> web.StreamResponse:
    """Send a server-sent event each time a run's journal grows or its state changes.

    The events end when the browser disconnects or the viewer closes.
    """
    viewer, run = request.app[VIEWER_KEY], request.match_info["run"]

    def look() -> PageState:
        row, trials = viewer.runs.row(run), viewer.trials(run)
        trials.read(MAX_READ_WAIT)
        return PageState(_event_id(row, trials.table.bytes_read), _figures(row))

    await run_in_thread(viewer.runs.row, run)  # raises UserError for a missing run before the stream begins
    return await send_changes(request, look)


def _event_id(row: RunRow, position: int) -> str:
    """Return the id of an event.

    It consists of the position in the journal, the number of finished trials, and the state.
    """
    return f"{position}-{row.done}-{row.state}"


def _figures(row: RunRow) -> dict[str, Any]:
    """Return the values on the page that live updates change."""
    pace = "" if row.rate is None else f"{row.rate:.1f} trials/s"
    left = "" if row.eta is None else f"about {format_duration(row.eta)} left"
    return {
        "state": row.state,
        "done": f"{row.done or 0:,}",
        "total": "?" if row.planned is None else f"{row.planned:,}",
        "share": row.finished_share,
        "percent": f"{row.finished_share:.0%}",
        "pace": ", ".join(text for text in (pace, left) if text),
    }
