"""Results of a validation in containers: solutions found in images, and test counts of gold solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.catalog.benchmark import GOLD
from benchwright.catalog.containers.gold_tallies import store_gold_tally
from benchwright.catalog.containers.sealing.leaks import LEAKS_ARTIFACT, Leaks
from benchwright.records import Sample
from benchwright.runs.journal import read_body
from benchwright.runs.table import RunTable


def collect_findings(directory: Path, samples: Iterable[Sample]) -> dict[str, list[str]]:
    """Return lines about solutions found in images, by sample. `directory`: the directory of the run.

    In addition, store the test counts of gold solutions that passed, for later runs.
    """
    table = RunTable(directory)
    table.read_journal()
    golds = {f"{sample.id}/{GOLD}": sample for sample in samples}
    told: dict[str, list[str]] = {}
    for trial in table.read_trials(table.counted_rows()):
        artifacts = read_body(directory, trial.record).artifacts
        if LEAKS_ARTIFACT in artifacts:
            lines = _lines(msgspec.convert(artifacts[LEAKS_ARTIFACT], Leaks))
            told[trial.record.sample.rpartition("/")[0]] = lines
        sample = golds.get(trial.record.sample)
        if sample is not None and all(score.value == 1.0 for score in trial.scores.values()):
            store_gold_tally(sample, _log(artifacts))
    return told


def _lines(leaks: Leaks) -> list[str]:
    said = [
        f"its image holds {path}: {what}{' (hidden from agents)' if path in leaks.hidden else ''}"
        for path, what in leaks.found.items()
    ]
    return said + ([leaks.problem] if leaks.problem else [])


def _log(artifacts: Mapping[str, Any]) -> str:
    return str((artifacts.get("tests") or {}).get("log") or "")
