"""The matrix on the page of a pack's run: scenarios by models, with running cells, and the pack's own scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchwright.analysis.pack_runs import PackRun, load_pack_run
from benchwright.analysis.run_list import RunRow
from benchwright.packs.results import CellState
from benchwright.packs.types import CategoryScore
from benchwright.reports.pack import cell_status_text
from benchwright.runs.manifest import Manifest
from benchwright.web.text import viewer_address
from benchwright.web.viewer import Viewer


class MatrixCell(NamedTuple):
    """One cell of the matrix.

    It has the statuses of its attempts, a progress message while it is running, and a link.
    """

    attempts: list[str]
    is_running: bool
    message: str
    seconds: float
    href: str
    status_text: str


class MatrixRow(NamedTuple):
    """One row of the matrix: a scenario with its cells, one for each model."""

    id: str
    title: str
    cells: list[MatrixCell]
    cards: list[dict[str, str]]


def pack_values(viewer: Viewer, row: RunRow, manifest: Manifest) -> dict[str, Any]:
    """Return the template values for a pack's run: scenarios by models, running cells, and scores."""
    trials = viewer.trials(row.id)
    trials.read_all()
    with trials.lock:
        kept = load_pack_run(manifest, trials.table)
    messages = viewer.live_cells(row.id).read_new_events() if row.state == "running" else {}
    lines = list(_lines(kept, manifest, row.id, messages))
    categories: dict[str, list[MatrixRow]] = {}
    for line in lines:
        categories.setdefault(manifest.about.get("categories", {}).get(line.id, ""), []).append(line)
    highest = max((value for one in kept.scores.values() for value in _values(one.score)), default=0.0)
    return {
        "pack_name": f"{manifest.about.get('name', manifest.name)} {manifest.about.get('version', '')}",
        "models": list(kept.models.values()),
        "categories": categories,
        "scores": [(kept.models[slot], score) for slot, score in kept.scores.items()],
        "full": 1.0 if highest <= 1 else 100.0 if highest <= 100 else highest,
    }


def _values(score: Any) -> list[float]:
    categories: list[CategoryScore] = [] if score is None else score.categories
    return [one.score for one in categories if one.score is not None]


def _lines(
    kept: PackRun, manifest: Manifest, run: str, messages: dict[tuple[str, str], str]
) -> Iterator[MatrixRow]:
    states = kept.results.cell_states()
    cards = manifest.about.get("cards", {})
    for scenario in kept.scenarios:
        cells = []
        for slot, model in kept.models.items():
            state = states.get((slot, scenario.id), CellState())
            message = messages.get((model.id, scenario.id))
            live = message is not None and len(state.attempts) < manifest.repeats
            href = (
                viewer_address(f"/runs/{run}/sample", id=scenario.id, target=slot) if state.attempts else ""
            )
            word = _word(state.attempts, live)
            cells.append(MatrixCell(state.attempts, live, message or "", state.seconds, href, word))
        yield MatrixRow(scenario.id, scenario.title, cells, cards.get(scenario.id, []))


def _word(attempts: list[str], live: bool) -> str:
    """Describe the state of a cell in a word or two."""
    if not attempts:
        return "at work" if live else "not yet"
    return cell_status_text(attempts)
