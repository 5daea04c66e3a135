"""Converts the samples of lm-evaluation-harness to trials. The files have one line per document and filter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from benchwright.interop.foreign_results import ForeignScore, ForeignTrial, UnreadableResults
from benchwright.interop.untrusted_files import number_or_none, read_lines, require_object, text_or_empty
from benchwright.records import DECODE_ERRORS, Message

LOGLIKELIHOOD_TASKS = ("loglikelihood", "multiple_choice", "loglikelihood_rolling")
NO_FILTER_NAME = "none"
DUPLICATE_LINES_NOTE = "lines that stood twice, word for word, count once"

SampleLine = dict[str, Any]


class FilterMetrics(NamedTuple):
    """The metrics of each filter. A filter is a rule that extracts the answer.

    The filters are in the order in which a document's lines have them. Before version 0.4.7, the lines
    themselves name neither their filter nor their metrics.
    """

    metrics: Mapping[str, Sequence[str]]


def trials_of(path: Path, kind: str, columns: FilterMetrics) -> Iterator[ForeignTrial]:
    """Yield a trial for each document. The lines of a document, one per filter, may be far apart in the file.

    Raises:
        UnreadableResults: If a line is damaged or has no document, or the lines of a document contradict each
            other.
    """
    lines: dict[str, list[SampleLine]] = {}
    for place, line in enumerate(read_lines(path), 1):
        found = require_object(line, f"{path}, line {place}")
        number_of_document = found.get("doc_id")
        if not isinstance(number_of_document, int | str):
            raise UnreadableResults(f"{path}, line {place}: it has no doc_id.")
        lines.setdefault(str(number_of_document), []).append(found)
    for sample, its_lines in lines.items():
        by_filter = _by_filter(its_lines, columns, f"{path}: document {sample}")
        twice = len(by_filter) < len(its_lines)
        yield _trial(sample, by_filter, kind, columns, (DUPLICATE_LINES_NOTE,) if twice else ())


def _by_filter(lines: Sequence[SampleLine], columns: FilterMetrics, where: str) -> dict[str, SampleLine]:
    """Return the lines of a document, as a mapping from the name of the filter.

    Lines that do not name their filter are in the order of the filters (lm_eval/evaluator.py, 0.4.3 to 0.4.6:
    the loop over filters encloses the loop over documents).
    """
    found: dict[str, SampleLine] = {}
    unnamed = [line for line in lines if "filter" not in line]
    for line in lines:
        if "filter" in line:
            _put(found, text_or_empty(line["filter"]) or NO_FILTER_NAME, line, where)
    if not unnamed:
        return found
    filters = list(columns.metrics) or [NO_FILTER_NAME]
    different = [line for place, line in enumerate(unnamed) if line not in unnamed[:place]]
    if len(unnamed) != len(filters) and len(filters) > 1:
        raise UnreadableResults(
            f"{where} has {len(unnamed)} lines for the filters {', '.join(filters)}, and no line says which is its."
        )
    if len(filters) == 1 and len(different) > 1:
        raise UnreadableResults(f"{where} stands there twice, and the two differ.")
    for name, line in zip(filters, unnamed, strict=False):
        _put(found, name, line, where)
    return found


def _put(found: dict[str, SampleLine], name: str, line: SampleLine, where: str) -> None:
    if found.setdefault(name, line) != line:
        raise UnreadableResults(f"{where} stands there twice for the filter {name}, and the two differ.")


def _trial(
    sample: str, lines: Mapping[str, SampleLine], kind: str, columns: FilterMetrics, remarks: tuple[str, ...]
) -> ForeignTrial:
    first = next(iter(lines.values()))
    prompt, choices = _asked(first.get("arguments"))
    chosen = kind in LOGLIKELIHOOD_TASKS
    answer = _likeliest(first, choices) if chosen else _first(first.get("resps"))
    asked = _conversation(prompt)
    messages = list(asked)
    if messages and not chosen:
        messages.append({"role": "assistant", "content": answer})
    target = first.get("target")
    return ForeignTrial(
        sample=sample,
        scores={
            f"{metric},{name}": score
            for name, line in lines.items()
            for metric, score in _scores(line, columns.metrics.get(name, ()))
        },
        input=text_or_empty(asked[-1].get("content")) or None if asked else None,
        target=str(target) if isinstance(target, str | int | float) else None,
        sample_digest=text_or_empty(first.get("doc_hash")) or None,
        messages=messages,
        answer=answer,
        remarks=remarks,
    )


def _scores(line: SampleLine, known: Sequence[str]) -> Iterator[tuple[str, ForeignScore]]:
    listed = line.get("metrics")
    span = _first(line.get("filtered_resps"))
    for metric in listed if isinstance(listed, list) else known:
        value = number_or_none(line.get(metric)) if isinstance(metric, str) else None
        if value is not None:
            yield metric, ForeignScore(value, span=span or None)


def _asked(arguments: Any) -> tuple[str, list[str]]:
    """Return (prompt, possible continuations) from the arguments of a document's requests."""
    given = list(arguments.values()) if isinstance(arguments, dict) else arguments
    pairs = [_pair(one) for one in given] if isinstance(given, list) else []
    return (pairs[0][0] if pairs else ""), [continuation for _, continuation in pairs]


def _conversation(prompt: str) -> list[Message]:
    """Return a prompt as messages. If a chat template was used, the prompt is a conversation written as JSON."""
    if prompt.startswith("[{"):
        try:
            found = msgspec.json.decode(prompt, type=list[dict[str, Any]])
        except DECODE_ERRORS:
            found = []
        if found and all(isinstance(one.get("role"), str) for one in found):
            return found
    return [{"role": "user", "content": prompt}] if prompt else []


def _pair(argument: Any) -> tuple[str, str]:
    parts = list(argument.values()) if isinstance(argument, dict) else argument
    if not isinstance(parts, list):
        return text_or_empty(argument), ""
    return _first(parts[:1]), text_or_empty(parts[1]).strip() if len(parts) > 1 else ""


def _likeliest(line: Mapping[str, Any], choices: list[str]) -> str:
    """Return the continuation with the largest log-likelihood. Empty if unknown.

    The log-likelihoods are numbers stored as text.
    """
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
    return text_or_empty(responses)
