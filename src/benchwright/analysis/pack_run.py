"""A pack's run, read back from its directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchwright.analysis.pack_summary import SUMMARY
from benchwright.packs.bridge.reading import read_score
from benchwright.packs.results import PackResults, PackScore, read_attempts, results_of
from benchwright.packs.run_files import RENDERED
from benchwright.packs.types import RegisteredModel, ScenarioMeta
from benchwright.records import Record
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable


class PackRun(Record, frozen=True):
    """Models by slot, scenarios, attempts, and the pack's scores where the run was concluded."""

    models: Mapping[str, RegisteredModel]
    scenarios: Sequence[ScenarioMeta]
    results: PackResults
    scores: Mapping[str, PackScore]


def load_pack_run(manifest: Manifest, table: RunTable) -> PackRun:
    """A pack's run from its manifest and its table, which must have `effort`; reads the body of each attempt.

    Raises:
        JournalError: the journal cannot be read.
    """
    about = manifest.about
    models = models_of(manifest)
    scenarios = [ScenarioMeta(name, title) for name, title in about["scenarios"].items()]
    attempts = (attempt for _, attempt in read_attempts(table))
    results = results_of(attempts, list(models), list(about["scenarios"]))
    return PackRun(models, scenarios, results, read_scores(manifest, table.directory))


def models_of(manifest: Manifest) -> dict[str, RegisteredModel]:
    """The models of a pack's run, by slot."""
    return msgspec.convert(manifest.about["models"], dict[str, RegisteredModel])


def read_scores(manifest: Manifest, directory: Path) -> dict[str, PackScore]:
    """The pack's scores by slot, from summary.json; none where the run was never concluded."""
    path = directory / RENDERED / SUMMARY
    if not path.exists():
        return {}
    summary: dict[str, Any] = msgspec.json.decode(path.read_bytes())
    scores, errors = summary["scores"], summary["scoreErrors"]
    found = {}
    for slot, model in models_of(manifest).items():
        if model.id in scores:
            found[slot] = PackScore(read_score(scores[model.id]))
        elif model.id in errors:
            found[slot] = PackScore(error=errors[model.id])
    return found
