"""A pack's run, read back from its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.pack_summary import SUMMARY
from benchwright.packs.bridge.reading import read_score
from benchwright.packs.results import PackResults, PackScore, read_results
from benchwright.packs.run_files import RENDERED
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.records import Record
from benchwright.runs.manifest import Manifest


class KeptPackRun(Record, frozen=True):
    """Models by slot, scenarios, attempts, and the pack's scores where the run was concluded."""

    models: Mapping[str, RegisteredModel]
    scenarios: Sequence[ScenarioMeta]
    results: PackResults
    scores: Mapping[str, PackScore]


def kept_pack_run(directory: Path, manifest: Manifest) -> KeptPackRun:
    """The run of a pack in `directory`, whose manifest is `manifest`."""
    about = manifest.about
    models = msgspec.convert(about["models"], dict[str, RegisteredModel])
    scenarios = [ScenarioMeta(name, title) for name, title in about["scenarios"].items()]
    results = read_results(directory, list(models), list(about["scenarios"]))
    return KeptPackRun(models, scenarios, results, _scores(directory, models))


def _scores(directory: Path, models: Mapping[str, RegisteredModel]) -> dict[str, PackScore]:
    """The pack's scores by slot, from summary.json; none where the run was never concluded."""
    path = directory / RENDERED / SUMMARY
    if not path.exists():
        return {}
    summary: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    scores, errors = summary["scores"], summary["scoreErrors"]
    found = {}
    for slot, model in models.items():
        if model.id in scores:
            found[slot] = PackScore(read_score(scores[model.id]))
        elif model.id in errors:
            found[slot] = PackScore(error=errors[model.id])
    return found
