"""Reads results of lm-evaluation-harness with their samples (`--log_samples`). Each task becomes a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignTarget,
    ReadResults,
    UnreadableResults,
    read_all_parts,
)
from benchwright.interop.lm_eval_samples import FilterMetrics, trials_of
from benchwright.interop.untrusted_files import (
    count_or_none,
    number_or_none,
    object_or_empty,
    objects_in_list,
    parse_time,
    read_json,
    require_object,
    text_or_empty,
)

FORMAT = "lm-eval"
RESULT_FILE_PATTERN = re.compile(r".+_(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d[^_]*)\.json")
"""Regular expression for names of result files.

They are results_TIME.json in a model's folder, or NAME_TIME.json with `--output_path NAME.json`.
"""
MAX_EXAMINED_FILES = 3
"""Number of files in a folder that are examined before the folder is rejected. A single file may be cut short."""
OLD_RESULT_FILE_NAME = "results.json"
"""Name of the result file in versions before 0.4.3."""
BINARY_METRICS = ("acc", "acc_norm", "exact_match")
"""Metrics that are 0 or 1 for each sample, and whose result is the mean of these values."""


def recognises(path: Path) -> bool:
    """Return True if the path is a result file, or a folder with result files in it or in its subfolders."""
    if path.is_file():
        if path.name == OLD_RESULT_FILE_NAME:
            return {"results", "versions", "config"} <= object_or_empty(_json_or_nothing(path)).keys()
        return RESULT_FILE_PATTERN.fullmatch(path.name) is not None and "higher_is_better" in object_or_empty(
            _json_or_nothing(path)
        )
    return path.is_dir() and any(recognises(one) for one in _results_below(path)[:MAX_EXAMINED_FILES])


def read(path: Path) -> ReadResults:
    """Read result files. Each task of each file becomes a run.

    Raises:
        UnreadableResults: If there are no samples.
    """
    files = [path] if path.is_file() else _results_below(path)
    if files and files[0].name == OLD_RESULT_FILE_NAME:
        raise UnreadableResults(
            f"{files[0]} was written by lm-evaluation-harness before 0.4.3, whose samples do not say how they were "
            "scored: run it again with a newer one."
        )
    found = read_all_parts(files, _runs)
    if not any(isinstance(one, ForeignRun) for one in found):
        damaged = next((one for one in found if isinstance(one, UnreadableResults)), None)
        raise damaged or UnreadableResults(
            f"{path} has no samples beside its results: run lm_eval with --log_samples."
        )
    return found


def _results_below(path: Path) -> list[Path]:
    found = [*path.glob("*.json"), *path.glob("*/*.json")]
    return sorted(one for one in found if RESULT_FILE_PATTERN.fullmatch(one.name)) or [
        one for one in found if one.name == OLD_RESULT_FILE_NAME
    ]


def _json_or_nothing(path: Path) -> Any:
    try:
        return read_json(path)
    except UnreadableResults:
        return None


def _runs(file: Path) -> ReadResults:
    results = require_object(read_json(file), file)
    named = RESULT_FILE_PATTERN.fullmatch(file.name)
    assert named is not None
    groups = {name for name, members in object_or_empty(results.get("group_subtasks")).items() if members}
    samples = {
        task: file.parent / f"samples_{task}_{named['time']}.jsonl"
        for task in object_or_empty(results.get("results"))
        if task not in groups
    }
    there = {task: place for task, place in samples.items() if place.is_file()}
    missing: ReadResults = [
        UnreadableResults(f"{file}: the samples of {task} are missing ({place.name}).")
        for task, place in samples.items()
        if there and task not in there
    ]
    return [*read_all_parts(there, lambda task: [_run(file, results, task, there[task])]), *missing]


def _run(file: Path, results: Mapping[str, Any], task: str, samples: Path) -> ForeignRun:
    config = object_or_empty(object_or_empty(results.get("configs")).get(task))
    counts = object_or_empty(object_or_empty(results.get("n-samples")).get(task))
    figures = object_or_empty(object_or_empty(results.get("results")).get(task))
    version = object_or_empty(results.get("versions")).get(task)
    return ForeignRun(
        format=FORMAT,
        program=_program(results),
        path=file,
        task=task,
        version="" if version is None else str(version),
        targets=[ForeignTarget("primary", _model(results), settings=_settings(config))],
        scores=_scales(figures, object_or_empty(object_or_empty(results.get("higher_is_better")).get(task))),
        trials=trials_of(samples, text_or_empty(config.get("output_type")), _columns(config, figures)),
        created_at=parse_time(results.get("date")),
        planned_trials=count_or_none(counts.get("effective")),
        files=[file, samples],
        missing_data=["times", "tokens", "errors of single samples"],
        notes=list(_notes(config)),
    )


def _program(results: Mapping[str, Any]) -> str:
    """Return the name of the program that wrote the results.

    It is the harness, or Benchwright if the file was made by `export --format lm-eval`.
    """
    if own := text_or_empty(results.get("benchwright_version")):
        return f"benchwright {own}, as lm-evaluation-harness writes"
    return f"lm-evaluation-harness {text_or_empty(results.get('lm_eval_version'))}".strip()


def _model(results: Mapping[str, Any]) -> str:
    return (
        text_or_empty(results.get("model_name"))
        or text_or_empty(object_or_empty(results.get("config")).get("model"))
        or "?"
    )


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {"num_fewshot": config.get("num_fewshot"), **object_or_empty(config.get("generation_kwargs"))}
    return {name: value for name, value in given.items() if isinstance(value, str | int | float | bool)}


def _figures(figures: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield (name of the score, name of the metric, name of the filter) for each score in a task's results."""
    for name in figures:
        metric, comma, its_filter = name.partition(",")
        if comma and not metric.endswith("_stderr"):
            yield name, metric, its_filter


def _columns(config: Mapping[str, Any], figures: Mapping[str, Any]) -> FilterMetrics:
    """Return the metrics of each filter (a rule that extracts the answer).

    The filters are in the order in which a document's lines have them.
    """
    metrics: dict[str, list[str]] = {}
    for _, metric, its_filter in _figures(figures):
        metrics.setdefault(its_filter, []).append(metric)
    listed = [text_or_empty(one.get("name")) for one in objects_in_list(config.get("filter_list"))]
    ordered = listed if set(listed) == set(metrics) else list(metrics)
    return FilterMetrics({name: metrics[name] for name in ordered})


def _scales(figures: Mapping[str, Any], higher_is_better: Mapping[str, Any]) -> dict[str, ForeignScale]:
    """Return a mapping from each score of a task to its scale.

    A score is named by its metric and its filter.
    """
    found = {}
    for name, metric, _ in _figures(figures):
        lower = higher_is_better.get(metric) is False
        if metric in BINARY_METRICS:
            found[name] = ForeignScale(0.0, 1.0, 1.0, lower, number_or_none(figures.get(name)))
        else:
            found[name] = ForeignScale(lower_is_better=lower)
    return found


def _notes(config: Mapping[str, Any]) -> Iterator[str]:
    repeats = count_or_none(config.get("repeats")) or 1
    if repeats > 1:
        yield f"Each sample was answered {repeats} times, of which a filter made one score: there are no repeats."
