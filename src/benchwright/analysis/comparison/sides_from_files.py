"""Reads a side of a comparison from a file: the documented result file of a benchmark, or documented results
of an eval.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchwright.analysis.comparison.sides import (
    ERROR,
    MAX_ANSWER_LENGTH,
    NO_ANSWER,
    SCORED,
    PromptAndTarget,
    Side,
    SideFacts,
    SideTrials,
    TrialsBuilder,
)
from benchwright.analysis.comparison.trial_usage import usage_of_metrics
from benchwright.analysis.scores import MAX_NO_SCORE_REASONS
from benchwright.errors import UserError
from benchwright.records import FAILED_STATUSES, Amount, Record, Status
from benchwright.text import make_safe


class SampleFacts(Record, frozen=True):
    """The fields that are read from one sample of a result file.

    Files of other tools may lack all fields except `correct`. Fields that the documented table does not show
    may have values of any type in these files.
    """

    id: Any = None
    correct: bool = False
    score: float | None = None
    predicted: Any = None
    expected: Any = None
    status: Any = None
    repeat: Any = None
    details: Any = None
    metrics: Any = None


class BenchmarkFile(Record, frozen=True):
    """The fields of a benchmark's result file that a comparison reads in addition to those in `ResultFile`."""

    benchmark: str
    model: str
    variant: str | None = None
    config: Any = None
    simulated: bool | None = None
    timings_valid: Any = None
    repeats: Any = None
    protocol: Any = None
    run: Any = None
    aggregated_metrics: dict[str, Any] = {}
    sample_results: list[SampleFacts] = []


class EvalRunFacts(Record, frozen=True):
    """One run of a dataset row in an eval's results.

    `scores`: mapping from the name of a score to its value, 0 for a missing score. `unscored`: mapping from the
    names of missing scores to the reasons.
    """

    run_index: Amount = 0
    row_index: int | None = None
    success: bool = True
    scores: dict[str, float] = {}
    model_tag: str | None = None
    error: str | None = None
    unscored: dict[str, str] = {}


class EvalRow(Record, frozen=True):
    """A dataset row of an eval, with its runs."""

    row_index: int
    runs: list[EvalRunFacts] = []


class EvalFile(Record, frozen=True):
    """The output of `eval -o`, or a cache file. In a cache file, runs are not grouped by row."""

    config: dict[str, Any]
    rows: list[EvalRow] = []
    runs: list[EvalRunFacts] = []
    run: str | None = None


def benchmark_side(file: BenchmarkFile, reference: str) -> Side:
    """Return the side of a result file. Samples without ids are kept but not paired."""
    builder = TrialsBuilder(["accuracy", "score"])
    timings = {"ttft": array("d"), "latency": array("d")}
    seen: Counter[str] = Counter()
    answers = []
    expected = [one.expected for one in file.sample_results]
    for one in file.sample_results:
        name = "" if one.id is None else str(one.id)
        repeat = one.repeat if isinstance(one.repeat, int) else seen[name]
        seen[name] += 1
        builder.add(name, repeat, None, ERROR, _scores(one))
        answers.append(one.predicted)
        for metrics in _requests(one.metrics):
            for field, key in (("ttft", "ttft_seconds"), ("latency", "total_latency_seconds")):
                value = metrics.get(key)
                if isinstance(value, int | float) and not metrics.get("error"):
                    timings[field].append(float(value))
    return Side(
        facts=_benchmark_facts(file, reference),
        trials=builder.build(),
        timings={name: np.array(values, np.float64) for name, values in timings.items()},
        metrics={
            name: float(value)
            for name, value in file.aggregated_metrics.items()
            if isinstance(value, int | float)
        },
        extracted_answers=lambda score, wanted: {
            position: str(answers[position])[:MAX_ANSWER_LENGTH]
            for position in wanted
            if answers[position] is not None
        },
        prompt_digests=lambda: None,
        prompts_and_targets=lambda wanted: {
            position: PromptAndTarget(None, None if expected[position] is None else str(expected[position]))
            for position in wanted
        },
        usage=usage_of_metrics(list(_requests(one.metrics)) for one in file.sample_results),
        failure_reasons=lambda score: sample_failure_reasons(file.sample_results),
    )


def sample_failure_reasons(samples: Sequence[SampleFacts]) -> dict[str, int]:
    """Return the most frequent reasons why samples failed, each with its count, as far as a file contains reasons."""
    errors = [
        one.details.get("error") if isinstance(one.details, dict) else None
        for one in samples
        if is_failed_sample(one)
    ]
    return _most(str(error) for error in errors if error)


def _most(reasons: Iterable[str]) -> dict[str, int]:
    return dict(Counter(make_safe(reason) for reason in reasons).most_common(MAX_NO_SCORE_REASONS))


def is_failed_sample(one: SampleFacts) -> bool:
    """Return True if a sample of a result file failed, by its status. Without a status, by an error in its details."""
    status = _text(one.status)
    return status in FAILED_STATUSES or status == Status.GRADER_ERROR or (status is None and _has_error(one))


def _scores(one: SampleFacts) -> dict[str, tuple[float | None, int]]:
    """Return the scores `accuracy` and `score` of a sample. Each is (value or None, score state)."""
    if is_failed_sample(one) or _text(one.status) in (Status.UNPARSED, Status.LIMIT):
        state = ERROR if is_failed_sample(one) else NO_ANSWER
        return {"accuracy": (None, state), "score": (None, state)}
    correct = float(one.correct)
    return {"accuracy": (correct, SCORED), "score": (correct if one.score is None else one.score, SCORED)}


def _has_error(one: SampleFacts) -> bool:
    return isinstance(one.details, dict) and bool(one.details.get("error"))


def _requests(metrics: Any) -> Iterator[dict[str, Any]]:
    if not isinstance(metrics, dict):
        return
    turns = metrics.get("per_turn")
    yield from ([turn for turn in turns if isinstance(turn, dict)] if isinstance(turns, list) else [metrics])


def _benchmark_facts(file: BenchmarkFile, reference: str) -> SideFacts:
    config, protocol = (part if isinstance(part, dict) else {} for part in (file.config, file.protocol))
    data = protocol.get("data")
    digest = data.get("digest") if isinstance(data, dict) else None
    named = {name: config.get(name) for name in ("temperature", "max_tokens", "seed")}
    settings = {
        name: msgspec.json.encode(value).decode() for name, value in named.items() if value is not None
    }
    if file.repeats is not None:
        settings["repeats"] = str(file.repeats)
    if isinstance(departures := protocol.get("departures"), list) and departures:
        settings["departures from the protocol"] = "; ".join(map(str, departures))
    concurrency, stream = config.get("concurrency"), config.get("streaming")
    return SideFacts(
        reference=reference,
        source="result file",
        kind="benchmark",
        subject=file.benchmark,
        model=file.model,
        variant=file.variant,
        protocol=_text(protocol.get("protocol")),
        protocol_version=_text(protocol.get("protocol_version")),
        data_digests=None if digest is None else (str(digest),),
        simulated=file.simulated,
        concurrency=concurrency
        if isinstance(concurrency, int) and config.get("concurrency_settled") is not False
        else None,
        is_streamed=stream if isinstance(stream, bool) else None,
        timings_valid=file.timings_valid if isinstance(file.timings_valid, bool) else None,
        settings=settings,
        run=_text(file.run),
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def eval_sides(file: EvalFile, reference: str) -> dict[str, Side]:
    """Return the sides of an eval's file, as a mapping from the tag of the model.

    The primary model comes first.

    Raises:
        UserError: If the file contains no runs.
    """
    runs: dict[str, list[tuple[int, EvalRunFacts]]] = {}
    for row in file.rows:
        for run in row.runs:
            runs.setdefault(run.model_tag or "primary", []).append((row.row_index, run))
    for run in file.runs:
        if run.row_index is not None:
            runs.setdefault(run.model_tag or "primary", []).append((run.row_index, run))
    if not runs:
        raise UserError(f"{reference} holds no runs to compare.")
    ordered = sorted(runs.items(), key=lambda item: item[0] != "primary")
    return {tag: _eval_side(file, reference, tag, listed) for tag, listed in ordered}


def _eval_side(file: EvalFile, reference: str, tag: str, runs: list[tuple[int, EvalRunFacts]]) -> Side:
    config = file.config
    names = config.get("eval_fns")
    builder = TrialsBuilder(map(str, names) if isinstance(names, list) else ())
    for row, run in runs:
        scores = {name: _worth(run, name, value) for name, value in run.scores.items() if run.success}
        builder.add(str(row), run.run_index, None, ERROR, scores)
    dataset, digest = config.get("dataset"), config.get("dataset_fingerprint")
    model = config.get("baseline_model" if tag == "baseline" else "model")
    trials: SideTrials = builder.build()
    return Side(
        facts=SideFacts(
            reference=reference,
            source="eval results",
            kind="eval",
            subject="" if dataset is None else Path(str(dataset)).stem,
            model=str(model or "?"),
            data_digests=None if digest is None else (str(digest),),
            settings={"repeats": str(config["n_runs"])} if "n_runs" in config else {},
            slot=tag,
        ),
        trials=trials,
        timings={},
        metrics={},
        extracted_answers=lambda score, wanted: {},
        prompt_digests=lambda: None,
        failure_reasons=lambda score: _most(run.error for _, run in runs if run.error and not run.success),
    )


def _worth(run: EvalRunFacts, name: str, value: float) -> tuple[float | None, int]:
    """Return (value, score state) of one score of a run. The value is None if the score is missing.

    Files store 0 for a missing score. A score is missing because there was no answer, or because the grader
    failed.
    """
    why = run.unscored.get(name)
    if why is None:
        return value, SCORED
    return None, ERROR if why == Status.GRADER_ERROR else NO_ANSWER
