"""Output folders of EvalScope: reviews have the scores, predictions what was asked and what it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.interop.foreign import (
    ForeignRun,
    ForeignScore,
    ForeignTarget,
    ForeignTrial,
    UnreadableResults,
)
from benchwright.interop.inspect_sample import openai_message, usage_of
from benchwright.interop.reading import (
    an_object,
    count,
    mapping,
    moment,
    nanoseconds,
    number,
    objects,
    read_json,
    read_lines,
    text,
)
from benchwright.records import RequestRecord, Status

FORMAT = "evalscope"
LINES = "*.jsonl"


class Subset(NamedTuple):
    """One file of reviews: a subset of a dataset, and the predictions that belong to it."""

    name: str
    reviews: Path
    predictions: Path


def recognises(path: Path) -> bool:
    """Whether this is an output folder, or a folder of such, named after their times."""
    return path.is_dir() and bool(_roots(path))


def read(path: Path) -> list[ForeignRun]:
    """A run for each dataset and model.

    Raises:
        UnreadableResults: a file is damaged, or there are no reviews.
    """
    found = [
        run
        for root in _roots(path)
        for model in sorted((root / "reviews").iterdir())
        if model.is_dir()
        for run in _runs(root, model.name)
    ]
    if not found:
        raise UnreadableResults(f"{path} has no reviews of single samples.")
    return found


def _roots(path: Path) -> list[Path]:
    places = [path, *sorted(one for one in path.iterdir() if one.is_dir())]
    return [one for one in places if any((one / "reviews").glob(f"*/{LINES}"))]


def _runs(root: Path, model: str) -> Iterator[ForeignRun]:
    reports = {
        text(report.get("dataset_name")) or file.stem: report
        for file in sorted((root / "reports" / model).glob("*.json"))
        for report in [an_object(read_json(file), file)]
    }
    for dataset, subsets in _datasets(root, model, list(reports)).items():
        report = reports.get(dataset, {})
        executed = mapping(report.get("execution_summary"))
        missing = (count(executed.get("requested")) or 0) - (count(executed.get("succeeded")) or 0)
        notes = [f"Requests that failed: {missing}; nothing of them was written down."] if missing > 0 else []
        yield ForeignRun(
            format=FORMAT,
            program="EvalScope",
            path=root,
            task=dataset,
            targets=[ForeignTarget("primary", text(report.get("model_name")) or model)],
            scores={},
            trials=(trial for subset in subsets for trial in _trials(subset)),
            created_at=moment(report.get("created_at")),
            state="finished" if report else "unfinished",
            repeats=_repeats(subsets),
            planned=count(executed.get("requested")),
            lacks=["time to first token", "why requests failed"],
            notes=notes,
        )


def _datasets(root: Path, model: str, datasets: list[str]) -> dict[str, list[Subset]]:
    """The files of each dataset: named after it and its subset, which only the reports can tell apart."""
    found: dict[str, list[Subset]] = {}
    for file in sorted((root / "reviews" / model).glob(LINES)):
        fitting = [one for one in datasets if file.stem == one or file.stem.startswith(f"{one}_")]
        dataset = max(fitting, key=len, default=file.stem)
        name = file.stem[len(dataset) :].removeprefix("_") or "default"
        found.setdefault(dataset, []).append(Subset(name, file, root / "predictions" / model / file.name))
    return found


def _repeats(subsets: list[Subset]) -> int:
    """How many answers a sample has at most; the reviews are read for it, as nothing else tells."""
    return 1 + max(
        (
            _generation(mapping(mapping(line).get("sample_score")))
            for subset in subsets
            for line in read_lines(subset.reviews)
        ),
        default=0,
    )


def _generation(sample_score: Mapping[str, Any]) -> int:
    return min(count(sample_score.get("generation_index")) or 0, 100_000)


def _trials(subset: Subset) -> Iterator[ForeignTrial]:
    requests = _requests(subset)
    for place, line in enumerate(read_lines(subset.reviews), 1):
        where = f"{subset.reviews}, line {place}"
        found = an_object(line, where)
        sample_score = mapping(found.get("sample_score"))
        group = sample_score.get("group_id", sample_score.get("sample_id"))
        if not isinstance(group, int | str):
            raise UnreadableResults(f"{where}: a review without a sample.")
        messages = [openai_message(one, {}) for one in objects(found.get("messages"))]
        score = mapping(sample_score.get("score"))
        asked = next((one["content"] for one in messages if one["role"] == "user"), None)
        target = found.get("target")
        index = count(found.get("index"))
        yield ForeignTrial(
            sample=f"{subset.name}/{group}",
            repeat=_generation(sample_score),
            scores=_scores(score),
            input=asked if isinstance(asked, str) else None,
            target=", ".join(map(str, target)) if isinstance(target, list) else text(target) or None,
            messages=messages,
            answer=text(score.get("prediction")),
            requests=[requests[index]] if index in requests else [],
            labels={"subset": subset.name},
        )


def _scores(score: Mapping[str, Any]) -> dict[str, ForeignScore]:
    """The metrics of a review. One that could not be computed was written down as 0: it has no value here."""
    errors = mapping(mapping(score.get("metadata")).get("metric_errors"))
    span, why = text(score.get("extracted_prediction")) or None, text(score.get("explanation")) or None
    found = {}
    for name, given in mapping(score.get("value")).items():
        error = next(
            (told for metric, told in errors.items() if name.lower().startswith(metric.lower())), None
        )
        value = number(given)
        if error is not None:
            found[name] = ForeignScore(
                None, Status.GRADER_ERROR, explanation=text(error) or "it was not computed"
            )
        elif value is not None:
            found[name] = ForeignScore(value, span=span, explanation=why)
    return found


def _requests(subset: Subset) -> dict[int | None, RequestRecord]:
    """The request behind each prediction, by its index."""
    if not subset.predictions.is_file():
        return {}
    found: dict[int | None, RequestRecord] = {}
    for line in read_lines(subset.predictions):
        given = mapping(line)
        output = mapping(given.get("model_output"))
        choices = objects(output.get("choices"))
        found[count(given.get("index"))] = RequestRecord(
            id=f"{subset.name}-{given.get('index')}",
            total=nanoseconds(output.get("time")),
            usage=usage_of(mapping(output.get("usage"))),
            finish_reason=text(choices[0].get("stop_reason")) or None if choices else None,
        )
    return found
