"""Scores of a promptfoo cell: whether it passed, its overall score, and its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchwright.interop.foreign import ForeignScore
from benchwright.interop.reading import mapping, number, objects, text
from benchwright.records import Status
from benchwright.text import one_line

PASS = "pass"
SCORE = "score"
OWN = (PASS, SCORE)
PREFIX = "namedScores."
"""Prefix for a metric that is called `pass` or `score`, to distinguish it from the cell's own scores."""

FAILED_GRADER = (
    "The grader of an assertion failed, which promptfoo counts as a score of 0; here there is none"
)
NO_ASSERTIONS = "It has no assertions, which promptfoo counts as passed"
ANOTHER_METRIC = (
    "A metric is the mean of its assertions here, where promptfoo wrote down a sum, or 0 for a weight of 0"
)

LONGEST_REASON = 500

GRADED_BY_MODELS = ("llm-rubric", "g-eval", "factuality", "model-graded", "answer-relevance", "context-")
"""Prefixes of assertion types that ask a model for a verdict. A leading `not-` is ignored."""

NO_OUTPUT = "No output"
NO_VERDICT = ("Could not extract JSON from", "API error", "API call error")
MALFORMED = "produced malformed response"
"""Failure reasons of a model-graded assertion whose grader did not answer (src/matchers.ts, before
`graderError`).

A reason counts if it equals `NO_OUTPUT`, begins with an entry of `NO_VERDICT`, or contains `MALFORMED`.
"""


class Graded(NamedTuple):
    """The scores of a cell, and remarks on peculiarities, in words."""

    scores: dict[str, ForeignScore]
    remarks: tuple[str, ...]


def graded(cell: Mapping[str, Any]) -> Graded:
    """Return the scores of a graded cell.

    promptfoo records an assertion whose grader failed as failed with a score of 0, although that does not
    show anything about the model. Scores that depend on such an assertion have no value here.
    """
    grading = mapping(cell.get("gradingResult"))
    parts = objects(grading.get("componentResults"))
    failures = [part for part in parts if _grader_failed(part)]
    reason = text(grading.get("reason")) or None
    if failures:
        told = one_line(text(failures[0].get("reason")) or "the grader failed", LONGEST_REASON)
        own = dict.fromkeys(OWN, ForeignScore(None, Status.GRADER_ERROR, explanation=told))
    else:
        values = {PASS: number(cell.get("success")), SCORE: number(cell.get("score"))}
        own = {
            name: ForeignScore(value, explanation=reason)
            for name, value in values.items()
            if value is not None
        }
    metrics = dict(_metrics(cell, parts, failures, reason))
    written = mapping(cell.get("namedScores"))
    another = any(
        one.value is not None and one.value != number(written.get(name.removeprefix(PREFIX)))
        for name, one in metrics.items()
    )
    remarks = [FAILED_GRADER] * bool(failures) + [ANOTHER_METRIC] * another
    if not parts and reason == "No assertions":
        remarks.append(NO_ASSERTIONS)
    return Graded(own | metrics, tuple(remarks))


def _grader_failed(part: Mapping[str, Any]) -> bool:
    """Return whether an assertion has no verdict because its grader failed.

    Newer versions of promptfoo mark it (`metadata.graderError`); in older ones, only the reason shows it.
    """
    if mapping(part.get("metadata")).get("graderError") is True:
        return True
    kind = text(mapping(part.get("assertion")).get("type")).removeprefix("not-")
    by_model = kind.startswith(GRADED_BY_MODELS) or "assertion" not in part
    reason = text(part.get("reason"))
    silent = reason == NO_OUTPUT or reason.startswith(NO_VERDICT) or MALFORMED in reason
    return by_model and part.get("score") == 0 and silent


def _metrics(
    cell: Mapping[str, Any], parts: list[dict[str, Any]], failures: list[dict[str, Any]], reason: str | None
) -> Iterator[tuple[str, ForeignScore]]:
    weights = mapping(mapping(cell.get("gradingResult")).get("namedScoreWeights"))
    lost = {text(mapping(part.get("assertion")).get("metric")) for part in failures}
    for name, given in mapping(cell.get("namedScores")).items():
        shown = f"{PREFIX}{name}" if name in OWN else name
        if name in lost or (failures and "" in lost and name not in _named(parts)):
            yield shown, ForeignScore(None, Status.GRADER_ERROR, explanation="its grader failed")
        elif (
            value := _metric(number(given), _named(parts).get(name, []), number(weights.get(name)))
        ) is not None:
            yield shown, ForeignScore(value, explanation=reason)


def _metric(written: float | None, parts: list[dict[str, Any]], weight: float | None) -> float | None:
    """Return the value of a metric: the weighted mean of its assertions. `written`: the value in the file.

    The written value may differ from this mean: a metric of weight 0 is written as 0 whatever its assertions
    score, and in files without weights it is their sum.
    """
    scores = [
        (number(part.get("score")), number(mapping(part.get("assertion")).get("weight"))) for part in parts
    ]
    known = [(score, 1.0 if given is None else given) for score, given in scores if score is not None]
    if not known or (weight and weight > 0):
        return written
    total = sum(given for _, given in known)
    if total > 0:
        return sum(score * given for score, given in known) / total
    return sum(score for score, _ in known) / len(known)


def _named(parts: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group the assertions of a cell by their metric."""
    found: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        if metric := text(mapping(part.get("assertion")).get("metric")):
            found.setdefault(metric, []).append(part)
    return found
