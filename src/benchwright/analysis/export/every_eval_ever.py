"""Exports a run as Every Eval Ever 0.3.0: for each target, one file of figures and one file of samples.

The shapes follow every_eval_ever/schemas/eval.schema.json. The rows of the samples are made in
`every_eval_ever_rows`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import xxhash

import benchwright
from benchwright.analysis.export.counted_trials import counted_trials, iso_time
from benchwright.analysis.export.every_eval_ever_rows import SCHEMA_VERSION, GradedScore, score_rows_of
from benchwright.analysis.scores import score_values_of
from benchwright.analysis.summary import summarise
from benchwright.analysis.summary_records import ScoreSummary, TargetSummary
from benchwright.errors import UserError
from benchwright.files import atomic_file, write_atomically
from benchwright.records import Target
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest, origin_of
from benchwright.runs.table import RunTable
from benchwright.statistic import is_number

UNKNOWN_VALUE = "unknown"
MAX_FOLDER_NAME_LENGTH = 120
"""Maximum number of characters of the name of a folder in the export. A longer name is cut."""

GENERATION_SETTINGS = {"temperature": float, "top_p": float, "top_k": int, "max_tokens": int}
"""Mapping from each setting of a target for which the format has a field to the type of this field."""


def write_every_eval_ever(
    manifest: Manifest, table: RunTable, directory: Path, developer: str | None = None
) -> Iterator[Path]:
    """Write data/COLLECTION/DEVELOPER/MODEL/UUID.json and UUID_samples.jsonl for each target.

    Yield both paths. The table must be read with `effort=True`. `developer` is used for models whose names do
    not begin with a developer (`org/model`). Means are over scored trials. A failed sample has the score 0,
    which the format requires, and an `error`.

    Raises:
        UserError: If no target has a score, or a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    scored = [
        (target, figures)
        for target, figures in zip(manifest.targets, summarise(manifest, table).targets, strict=True)
        if any(is_number(score.mean_scored) for score in figures.scores)
    ]
    if not scored:
        raise UserError(f"{manifest.id} has no score: Every Eval Ever is a format of scores.")
    for target, figures in scored:
        place = _place(manifest, target, developer or UNKNOWN_VALUE)
        yield from _write(manifest, table, directory, target, figures, place)


class _Place(NamedTuple):
    """The folder and the unique identifiers of a target's records."""

    folder: str
    unique: str
    evaluation: str
    model: str
    developer: str

    @property
    def samples(self) -> str:
        return f"{self.folder}/{self.unique}_samples.jsonl"


def _write(
    manifest: Manifest,
    table: RunTable,
    directory: Path,
    target: Target,
    figures: TargetSummary,
    place: _Place,
) -> Iterator[Path]:
    scores = [score for score in figures.scores if is_number(score.mean_scored)]
    graded = [
        GradedScore.from_score(manifest, score.scorer, f"{place.evaluation}/{score.scorer}")
        for score in scores
    ]
    rows = 0
    with atomic_file(directory / place.samples) as file:
        for counted in counted_trials(table, target.slot):
            for row in score_rows_of(counted, graded, place.evaluation, place.model):
                file.write(encode_json(row) + b"\n")
                rows += 1
    results = [_result(manifest, table, target, score, place) for score in scores]
    about = {**_about(manifest, target, place), "evaluation_results": results}
    about["detailed_evaluation_results"] = {"format": "jsonl", "file_path": place.samples, "total_rows": rows}
    path = directory / place.folder / f"{place.unique}.json"
    write_atomically(path, encode_json(about))
    yield path
    yield directory / place.samples


def _place(manifest: Manifest, target: Target, developer: str) -> _Place:
    """Return the folder and identifiers of a target's records.

    They are the same whenever the run is exported.
    """
    model = target.model
    named, slash, name = model.partition("/")
    if slash:
        developer = named
    else:
        name = model
    digest = xxhash.xxh3_128_digest(f"{manifest.id}\n{target.slot}".encode())
    parts = (manifest.task.name, developer, name)
    folder = "/".join(("data", *map(_folder_part, parts)))
    evaluation = f"{manifest.task.name}/{model.replace('/', '_')}/{manifest.created_at / 1e9:.3f}"
    return _Place(folder, str(UUID(bytes=digest, version=4)), evaluation, model, developer)


def _folder_part(text: str) -> str:
    """Return a text as part of a path in the datastore's spelling. Invalid characters become underscores."""
    plain = "".join("_" if one in '<>:"/\\|?*' or not one.isprintable() else one for one in text.strip())
    named = plain[:MAX_FOLDER_NAME_LENGTH].rstrip(". ") or UNKNOWN_VALUE
    return f"{named}_" if named == "data" else named


def _about(manifest: Manifest, target: Target, place: _Place) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": place.evaluation,
        "evaluation_timestamp": iso_time(manifest.created_at),
        "retrieved_timestamp": f"{time.time():.3f}",
        "source_metadata": {
            "source_name": manifest.id,
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN_VALUE,
            "evaluator_relationship": "other",
        },
        "eval_library": _library(manifest),
        "model_info": {
            "name": place.model,
            "id": place.model,
            "developer": place.developer,
            "additional_details": {
                "deployment_type": UNKNOWN_VALUE,
                "model_availability": UNKNOWN_VALUE,
                "slot": target.slot,
                **({"base_url": target.base_url} if target.base_url else {}),
            },
        },
    }


def _library(manifest: Manifest) -> dict[str, str]:
    """Return the entry of the program that made the run: Benchwright, or the program from which the run was
    imported.
    """
    origin = origin_of(manifest)
    if origin is None:
        return {"name": "benchwright", "version": benchwright.__version__}
    name, _, version = origin.program.rpartition(" ")
    return {"name": name, "version": version} if name else {"name": version, "version": UNKNOWN_VALUE}


def _result(
    manifest: Manifest, table: RunTable, target: Target, score: ScoreSummary, place: _Place
) -> dict[str, Any]:
    values = score_values_of(manifest, table, score.scorer, table.counted_mask(target.slot))
    low, high = values.value_range or ("-Infinity", "Infinity")
    made: dict[str, Any] = {
        "evaluation_result_id": f"{place.evaluation}/{score.scorer}",
        "evaluation_name": f"{manifest.task.name}/{score.scorer}",
        "source_data": {"dataset_name": manifest.task.name, "source_type": "other"},
        "metric_config": {
            "evaluation_description": f"Mean of {score.scorer} over samples",
            "metric_name": score.scorer,
            "lower_is_better": values.scale.lower_is_better,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
        },
        "score_details": {
            "score": score.mean_scored,
            "details": {
                "trials": str(score.n),
                "repeats": str(manifest.repeats),
                "no_answer": str(score.no_answer),
                "failed": str(score.n - score.n_scored),
            },
            "uncertainty": {"num_samples": score.n_samples, **_interval(score)},
        },
    }
    if target.settings:
        made["generation_config"] = _settings(target.settings)
    return made


def _interval(score: ScoreSummary) -> dict[str, Any]:
    if score.low is None or score.high is None:
        return {}
    interval = {"lower": score.low, "upper": score.high, "confidence_level": 0.95, "method": score.method}
    return {"confidence_interval": interval}


def _settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings under the two fields that the format has for them.

    `generation_args` holds the settings in `GENERATION_SETTINGS`. `additional_details` holds all other
    settings, converted to strings, the only type that it allows.
    """
    known = {
        name: kind(settings[name])
        for name, kind in GENERATION_SETTINGS.items()
        if isinstance(settings.get(name), int | float)
    }
    others = {
        name: value if isinstance(value, str) else encode_json(value).decode(errors="replace")
        for name, value in settings.items()
        if name not in known
    }
    return {"generation_args": known, "additional_details": others}
