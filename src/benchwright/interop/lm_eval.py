"""Results of lm-evaluation-harness with their samples (`--log_samples`): a run for each task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchwright.interop.foreign import (
    ForeignRun,
    ForeignScale,
    ForeignScore,
    ForeignTarget,
    ForeignTrial,
    UnreadableResults,
)
from benchwright.interop.reading import an_object, count, mapping, moment, number, read_json, read_lines, text
from benchwright.records import UNREADABLE, Message

FORMAT = "lm-eval"
RESULTS = "results_*.json"
LOGLIKELIHOOD = ("loglikelihood", "multiple_choice", "loglikelihood_rolling")
WITHIN_0_AND_1 = ("acc", "acc_norm", "exact_match")
"""Metrics that are 0 or 1 for each sample."""


def recognises(path: Path) -> bool:
    """Whether this is a file of results, or a folder with such, directly or in the folders of models."""
    if path.is_file():
        return path.match(RESULTS) and "higher_is_better" in mapping(_json_or_nothing(path))
    return path.is_dir() and any(
        "higher_is_better" in mapping(_json_or_nothing(one)) for one in _results_below(path)[:1]
    )


def read(path: Path) -> list[ForeignRun]:
    """A run for each task of each file of results.

    Raises:
        UnreadableResults: a file is damaged, or there are no samples.
    """
    found = [run for file in ([path] if path.is_file() else _results_below(path)) for run in _runs(file)]
    if not found:
        raise UnreadableResults(f"{path} has no samples beside its results: run lm_eval with --log_samples.")
    return found


def _results_below(path: Path) -> list[Path]:
    return sorted([*path.glob(RESULTS), *path.glob(f"*/{RESULTS}")])


def _json_or_nothing(path: Path) -> Any:
    try:
        return read_json(path)
    except UnreadableResults:
        return None


def _runs(file: Path) -> Iterator[ForeignRun]:
    results = an_object(read_json(file), file)
    time = file.stem.removeprefix("results_")
    beside = {one.name: one for one in file.parent.glob("samples_*.jsonl") if one.is_file()}
    for task, figures in mapping(results.get("results")).items():
        samples = beside.get(f"samples_{task}_{time}.jsonl")
        if samples is None:
            continue
        config = mapping(mapping(results.get("configs")).get(task))
        counts = mapping(mapping(results.get("n-samples")).get(task))
        model = text(results.get("model_name")) or text(mapping(results.get("config")).get("model")) or "?"
        version = mapping(results.get("versions")).get(task)
        yield ForeignRun(
            format=FORMAT,
            program=_program(results),
            path=file,
            task=task,
            version="" if version is None else str(version),
            targets=[ForeignTarget("primary", model, settings=_settings(config))],
            scores=_scales(mapping(figures), mapping(mapping(results.get("higher_is_better")).get(task))),
            trials=_trials(samples, text(config.get("output_type"))),
            created_at=moment(results.get("date")),
            planned=count(counts.get("effective")),
            lacks=["times", "tokens", "errors of single samples"],
            notes=list(_notes(config)),
        )


def _program(results: Mapping[str, Any]) -> str:
    """What wrote it: `export --format lm-eval` writes this layout, too."""
    if own := text(results.get("benchwright_version")):
        return f"benchwright {own}, as lm-evaluation-harness writes"
    return f"lm-evaluation-harness {text(results.get('lm_eval_version'))}".strip()


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    given = {"num_fewshot": config.get("num_fewshot"), **mapping(config.get("generation_kwargs"))}
    return {name: value for name, value in given.items() if isinstance(value, str | int | float | bool)}


def _scales(figures: Mapping[str, Any], higher_is_better: Mapping[str, Any]) -> dict[str, ForeignScale]:
    """The scores of a task, each named after its metric and its filter."""
    found = {}
    for name in figures:
        metric, comma, _ = name.partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        lower = higher_is_better.get(metric) is False
        right_or_wrong = metric in WITHIN_0_AND_1
        found[name] = (
            ForeignScale(0.0, 1.0, 1.0, lower) if right_or_wrong else ForeignScale(None, None, None, lower)
        )
    return found


def _trials(path: Path, kind: str) -> Iterator[ForeignTrial]:
    """A trial for each document: its lines, one for each filter, may lie far apart."""
    lines: dict[str, list[dict[str, Any]]] = {}
    for place, line in enumerate(read_lines(path), 1):
        found = an_object(line, f"{path}, line {place}")
        number_of_document = found.get("doc_id")
        if not isinstance(number_of_document, int | str):
            raise UnreadableResults(f"{path}, line {place}: it has no doc_id.")
        lines.setdefault(str(number_of_document), []).append(found)
    for sample, its_lines in lines.items():
        yield _trial(sample, its_lines, kind)


def _trial(sample: str, lines: list[dict[str, Any]], kind: str) -> ForeignTrial:
    first = lines[0]
    prompt, choices = _asked(first.get("arguments"))
    chosen = kind in LOGLIKELIHOOD
    answer = _likeliest(first, choices) if chosen else _first(first.get("resps"))
    asked = _conversation(prompt)
    messages = list(asked)
    if messages and not chosen:
        messages.append({"role": "assistant", "content": answer})
    target = first.get("target")
    return ForeignTrial(
        sample=sample,
        scores={name: score for line in lines for name, score in _scores(line)},
        input=text(asked[-1].get("content")) or None if asked else None,
        target=str(target) if isinstance(target, str | int | float) else None,
        identity=text(first.get("doc_hash")) or None,
        messages=messages,
        answer=answer,
    )


def _scores(line: Mapping[str, Any]) -> Iterator[tuple[str, ForeignScore]]:
    metrics = line.get("metrics")
    span = _first(line.get("filtered_resps"))
    for metric in metrics if isinstance(metrics, list) else []:
        value = number(line.get(metric)) if isinstance(metric, str) else None
        if value is not None:
            yield f"{metric},{text(line.get('filter')) or 'none'}", ForeignScore(value, span=span or None)


def _asked(arguments: Any) -> tuple[str, list[str]]:
    """The prompt, and what it could be continued with."""
    given = list(arguments.values()) if isinstance(arguments, dict) else arguments
    pairs = [_pair(one) for one in given] if isinstance(given, list) else []
    return (pairs[0][0] if pairs else ""), [continuation for _, continuation in pairs]


def _conversation(prompt: str) -> list[Message]:
    """A prompt as messages: with a chat template it is a conversation, written as JSON."""
    if prompt.startswith("[{"):
        try:
            found = msgspec.json.decode(prompt, type=list[dict[str, Any]])
        except UNREADABLE:
            found = []
        if found and all(isinstance(one.get("role"), str) for one in found):
            return found
    return [{"role": "user", "content": prompt}] if prompt else []


def _pair(argument: Any) -> tuple[str, str]:
    parts = list(argument.values()) if isinstance(argument, dict) else argument
    if not isinstance(parts, list):
        return text(argument), ""
    return _first(parts[:1]), text(parts[1]).strip() if len(parts) > 1 else ""


def _likeliest(line: Mapping[str, Any], choices: list[str]) -> str:
    """The continuation with the largest log-likelihood, which the file has as text; empty where that is not known."""
    given = line.get("filtered_resps")
    values = [_logarithm(one) for one in given] if isinstance(given, list) else []
    known = [
        (value, place) for place, value in enumerate(values) if value is not None and place < len(choices)
    ]
    return choices[max(known)[1]] if known and len(known) == len(choices) else ""


def _logarithm(response: Any) -> float | None:
    value = response[0] if isinstance(response, list) and response else response
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _first(responses: Any) -> str:
    while isinstance(responses, list) and responses:
        responses = responses[0]
    return text(responses)


def _notes(config: Mapping[str, Any]) -> Iterator[str]:
    repeats = count(config.get("repeats")) or 1
    if repeats > 1:
        yield f"Each sample was answered {repeats} times, of which a filter made one score: there are no repeats."
