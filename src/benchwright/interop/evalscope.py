"""Reads output folders of EvalScope.

The folders contain review files with the scores, and prediction files with the requests and the usage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.interop.evalscope_reviews import REVIEW_FILES_GLOB, ReviewSubset, scan_reviews, trials_of
from benchwright.interop.foreign_results import (
    ForeignRun,
    ForeignScale,
    ForeignTarget,
    ReadResults,
    UnreadableResults,
    read_all_parts,
)
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

FORMAT = "evalscope"
MAX_CONFIGURATION_BYTES = 16 << 20


class DatasetReport(NamedTuple):
    """EvalScope's report on one dataset: the report's file and its content."""

    file: Path
    content: Mapping[str, Any]


def recognises(path: Path) -> bool:
    """Return True if the path is an output folder, or a folder of output folders that are named by time."""
    return path.is_dir() and bool(_roots(path))


def read(path: Path) -> ReadResults:
    """Read an output folder. Each dataset and model in it becomes a run.

    Raises:
        UnreadableResults: If there are no reviews.
    """
    models = [
        (root, model.name)
        for root in _roots(path)
        for model in sorted((root / "reviews").iterdir())
        if model.is_dir()
    ]
    found = read_all_parts(models, lambda one: _runs(*one))
    if not found:
        raise UnreadableResults(f"{path} has no reviews of single samples.")
    return found


def _roots(path: Path) -> list[Path]:
    places = [path, *sorted(one for one in path.iterdir() if one.is_dir())]
    return [one for one in places if any((one / "reviews").glob(f"*/{REVIEW_FILES_GLOB}"))]


def _runs(root: Path, model: str) -> ReadResults:
    reports: dict[str, DatasetReport] = {}
    damaged: ReadResults = []
    for file in sorted((root / "reports" / model).glob("*.json")):
        try:
            content = require_object(read_json(file), file)
        except UnreadableResults as error:
            damaged.append(error)
            content = {}
        reports[text_or_empty(content.get("dataset_name")) or file.stem] = DatasetReport(file, content)
    files = _datasets(root, model, reports)
    missing = [
        UnreadableResults(f"{report.file}: there are no reviews of {dataset} beside this report.")
        for dataset, report in reports.items()
        if dataset not in files
    ]
    read_one = partial(_run, root, model, reports)
    return [*read_all_parts(files.items(), lambda one: [read_one(*one)]), *damaged, *missing]


def _run(
    root: Path, model: str, reports: Mapping[str, DatasetReport], dataset: str, subsets: list[ReviewSubset]
) -> ForeignRun:
    report = reports.get(dataset)
    content = {} if report is None else report.content
    executed = object_or_empty(content.get("execution_summary"))
    requested = count_or_none(executed.get("requested"))
    failed = max(0, (requested or 0) - (count_or_none(executed.get("succeeded")) or 0))
    reviews = scan_reviews(subsets)
    return ForeignRun(
        format=FORMAT,
        program="EvalScope",
        path=root,
        task=dataset,
        targets=[ForeignTarget("primary", text_or_empty(content.get("model_name")) or model)],
        scores=_scales(content, reviews.metrics),
        trials=trials_of(subsets, reviews),
        created_at=parse_time(content.get("created_at")),
        state="finished" if content else "unfinished",
        repeats=reviews.repeats,
        planned_trials=requested if requested is not None else _counted(content),
        absent_trials=failed,
        files=[*([report.file] if report else []), *(file for one in subsets for file in one.existing_files)],
        missing_data=["time to first token", "why requests failed"],
        notes=[*_notes(content, failed), *reviews.notes],
    )


def _datasets(root: Path, model: str, reports: Mapping[str, DatasetReport]) -> dict[str, list[ReviewSubset]]:
    """Group the review files by dataset.

    A review file is named DATASET_SUBSET, and both names may contain underscores.

    A report names the subsets of its dataset, and the configuration lists all datasets. A review file that
    matches neither a report nor the configuration becomes a dataset by itself. For example, reviews of an
    interrupted `mmlu_pro` have no report, but they are not a subset of `mmlu`.
    """
    told = {
        f"{dataset}_{subset}": (dataset, subset)
        for dataset, report in reports.items()
        for subset in _subsets(report.content)
    }
    configured = [
        *_configured(root),
        *(name for name, report in reports.items() if not _subsets(report.content)),
    ]
    found: dict[str, list[ReviewSubset]] = {}
    for file in sorted((root / "reviews" / model).glob(REVIEW_FILES_GLOB)):
        dataset, subset = told.get(file.stem) or _split(file.stem, configured)
        predictions = root / "predictions" / model / file.name
        found.setdefault(dataset, []).append(ReviewSubset(subset, file, predictions))
    return found


def _split(stem: str, datasets: Iterable[str]) -> tuple[str, str]:
    fitting = [one for one in datasets if stem == one or stem.startswith(f"{one}_")]
    dataset = max(fitting, key=len, default=stem)
    return dataset, stem[len(dataset) :].removeprefix("_") or "default"


def _subsets(report: Mapping[str, Any]) -> set[str]:
    categories = (
        one
        for metric in objects_in_list(report.get("metrics"))
        for one in objects_in_list(metric.get("categories"))
    )
    named = (
        text_or_empty(subset.get("name"))
        for one in categories
        for subset in objects_in_list(one.get("subsets"))
    )
    return {
        *object_or_empty(object_or_empty(report.get("execution_summary")).get("subsets")),
        *filter(None, named),
    }


def _configured(root: Path) -> Iterator[str]:
    """Yield the names of the datasets in the configuration. It is a YAML file, of which only this list is read."""
    for file in sorted((root / "configs").glob("*.y*ml")):
        try:
            lines = file.read_bytes()[:MAX_CONFIGURATION_BYTES].decode(errors="replace").splitlines()
        except OSError:
            continue
        within = False
        for line in lines:
            if within and line.lstrip().startswith("- "):
                yield line.lstrip()[2:].strip().strip("'\"")
            else:
                within = line.rstrip() == "datasets:"


def _scales(report: Mapping[str, Any], metrics: Iterable[str]) -> dict[str, ForeignScale]:
    """Return the scale of each metric, in the order of `metrics`.

    A scale holds the (rounded) mean over all samples that the report states, or nothing if the report states
    no such mean.
    """
    found = dict.fromkeys(metrics, ForeignScale())
    for metric in objects_in_list(report.get("metrics")):
        identity = object_or_empty(metric.get("identity"))
        name, mean = text_or_empty(identity.get("name")), number_or_none(metric.get("score"))
        if name in found and identity.get("aggregation") == "mean" and not identity.get("dimensions"):
            found[name] = ForeignScale(mean=mean)
    return found


def _counted(report: Mapping[str, Any]) -> int | None:
    """Return the number of trials that a report states. Only reports by older versions of EvalScope state it.

    Return None for other reports. Older versions do not summarise the execution.
    """
    return max(
        (found for one in objects_in_list(report.get("metrics")) if (found := count_or_none(one.get("num")))),
        default=None,
    )


def _notes(report: Mapping[str, Any], failed: int) -> Iterator[str]:
    if failed:
        yield f"Requests that failed: {failed}; nothing of them was written down."
    if not report:
        yield "There is no report: the evaluation was interrupted, or its report is missing."
