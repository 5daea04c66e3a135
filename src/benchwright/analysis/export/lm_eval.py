"""Exports a run in the layout of lm-evaluation-harness 0.4.13: a folder of results and samples per target.

The format has one score per sample. For repeats, the score is the mean over the repeats, and the answers are
listed side by side. Failed trials are left out: lm-evaluation-harness itself aborts at the first failure, so
its files have no lines for failures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

import benchwright
from benchwright.analysis.export.counted_trials import CountedTrial, counted_trials, file_name_part, iso_time
from benchwright.analysis.scores import mean_of, score_scale_of, score_values_of
from benchwright.analysis.trial_preview import trial_preview
from benchwright.errors import UserError
from benchwright.files import atomic_file, write_atomically
from benchwright.records import Target
from benchwright.runs.counting_rules import ScoreState
from benchwright.runs.flags import FLAGS_KEY
from benchwright.runs.journal import encode_json
from benchwright.runs.manifest import Manifest
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore

ValuesByMetric = Mapping[str, float]
"""Mapping from the name of a metric to the score of a sample."""


def write_lm_eval(manifest: Manifest, table: RunTable, directory: Path) -> Iterator[Path]:
    """Write MODEL/samples_TASK_TIME.jsonl and MODEL/results_TIME.json for each target. Yield both paths.

    The table must be read with `effort=True`. A score that is not named METRIC,FILTER is written as SCORE,none.

    Raises:
        UserError: If the run has no score, or a file cannot be written.
        JournalError: If the journal cannot be read.
    """
    if not any(_figures(manifest, table, target) for target in manifest.targets):
        raise UserError(f"{manifest.id} has no score: samples of lm-evaluation-harness are scored ones.")
    time = iso_time(manifest.created_at).replace(":", "-")
    task = file_name_part(manifest.task.name)
    for target in manifest.targets:
        alone = sum(one.model == target.model for one in manifest.targets) == 1
        name = "__".join(file_name_part(part) for part in target.model.split("/"))
        folder = directory / (name if alone else f"{name}__{file_name_part(target.slot)}")
        samples = folder / f"samples_{task}_{time}.jsonl"
        with atomic_file(samples) as file:
            documents = _write_samples(file.write, manifest, table, target)
        yield samples
        results = folder / f"results_{time}.json"
        about = _results(manifest, table, target, task, documents)
        write_atomically(results, encode_json(about))
        yield results


def _write_samples(write: Any, manifest: Manifest, table: RunTable, target: Target) -> int:
    """Write the lines of all samples, one line for each filter. Return the number of samples that have a line."""
    documents = 0
    trials = counted_trials(table, target.slot, by_sample=manifest.repeats > 1)
    for place, (_, group) in enumerate(groupby(trials, lambda one: one.trial.record.sample)):
        repeats = list(group)
        values = {name: value for name in table.scores if (value := _mean(repeats, name)) is not None}
        documents += bool(values)
        for line in _lines(place, repeats, values):
            write(encode_json(line) + b"\n")
    return documents


def _mean(repeats: Sequence[CountedTrial], score: str) -> float | None:
    """Return the mean of a score over the repeats that have it. No answer counts as 0.

    None if no repeat has the score.
    """
    found = [one.score(score) for one in repeats]
    values = [value for state, value in found if state is not ScoreState.FAILED]
    return sum(values) / len(values) if values else None


def _lines(place: int, repeats: Sequence[CountedTrial], values: ValuesByMetric) -> Iterator[dict[str, Any]]:
    """Yield the lines of a sample: one for each filter, with the metrics of this filter."""
    filters: dict[str, dict[str, float]] = {}
    for name, value in values.items():
        metric, kind = metric_and_filter(name)
        filters.setdefault(kind, {})[metric] = value
    if not filters:
        return
    first = repeats[0].trial
    told = [trial_preview(one.trial, one.body) for one in repeats]
    question, target = told[0].input or "", told[0].target or ""
    answers = [one.answer or "" for one in told]
    flags = list(dict.fromkeys(flag for one in repeats for flag in one.trial.flags))
    document = {"id": first.record.sample, "input": question, "target": target, **first.record.labels}
    for kind, metrics in filters.items():
        spans = [_span(one, metrics, kind) or answer for one, answer in zip(repeats, answers, strict=True)]
        yield {
            "doc_id": place,
            "doc": document,
            "target": target,
            "arguments": {"gen_args_0": {"arg_0": question, "arg_1": {}}},
            "resps": [answers],
            "filtered_resps": spans,
            "filter": kind,
            "metrics": list(metrics),
            "doc_hash": _digest(encode_json(document)),
            "prompt_hash": _digest(question.encode(errors="replace")),
            "target_hash": _digest(target.encode(errors="replace")),
            **({FLAGS_KEY: msgspec.to_builtins(flags)} if flags else {}),
            **metrics,
        }


def _span(counted: CountedTrial, metrics: Mapping[str, float], kind: str) -> str | None:
    """Return the answer that a scorer extracted. Return None if no answer was extracted.

    The scorer is one whose score is named METRIC,FILTER or METRIC, with one of these `metrics` and the filter
    `kind`.
    """
    scores = counted.trial.scores
    named = (scores.get(name) for metric in metrics for name in (f"{metric},{kind}", metric))
    return next((score.span for score in named if score is not None and score.span), None)


def metric_and_filter(score: str) -> tuple[str, str]:
    """Return the metric and the filter of a score. The filter is `none` if the score's name has no filter."""
    metric, comma, kind = score.partition(",")
    return (metric, kind) if comma else (score, "none")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _results(
    manifest: Manifest, table: RunTable, target: Target, task: str, documents: int
) -> dict[str, Any]:
    names = {name: metric_and_filter(name) for name in table.scores}
    planned = sum(data.samples for data in manifest.data) or documents
    return {
        "results": {
            task: {"name": task, "alias": task, "sample_len": documents, **_figures(manifest, table, target)}
        },
        "group_subtasks": {task: []},
        "configs": {
            task: {
                "task": task,
                "output_type": "generate_until",
                "repeats": manifest.repeats,
                "generation_kwargs": target.settings,
                "metadata": {"version": manifest.task.version},
            }
        },
        "versions": {task: manifest.task.version},
        "higher_is_better": {
            task: {names[name][0]: not score_scale_of(manifest, name).lower_is_better for name in names}
        },
        "n-samples": {task: {"original": planned, "effective": documents}},
        "config": {
            "model": "benchwright",
            "model_args": {"base_url": target.base_url, "model": target.model},
        },
        "date": manifest.created_at / 1e9,
        "model_source": "benchwright",
        "model_name": target.model,
        "benchwright_version": benchwright.__version__,
    }


def _figures(manifest: Manifest, table: RunTable, target: Target) -> dict[str, float | str]:
    found: dict[str, float | str] = {}
    for name in table.scores:
        estimate = mean_of(score_values_of(manifest, table, name, table.counted_mask(target.slot)))
        if isinstance(estimate, NoScore):
            continue
        metric, kind = metric_and_filter(name)
        found[f"{metric},{kind}"] = estimate.mean
        found[f"{metric}_stderr,{kind}"] = "N/A" if estimate.se is None else estimate.se
    return found
