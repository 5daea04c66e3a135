"""Scores of a promptfoo cell: whether the cell passed, its overall score, and its metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from benchwright.interop.foreign_results import ForeignScore
from benchwright.interop.untrusted_files import (
    number_or_none,
    object_or_empty,
    objects_in_list,
    text_or_empty,
)
from benchwright.records import Status
from benchwright.text import one_line

PASS_SCORE_NAME = "pass"
OVERALL_SCORE_NAME = "score"
CELL_SCORE_NAMES = (PASS_SCORE_NAME, OVERALL_SCORE_NAME)
METRIC_PREFIX = "namedScores."
"""Prefix that is added to the name of a metric if the metric is called `pass` or `score`.

It distinguishes the metric from the cell's own scores of these names.
"""

FAILED_GRADER_NOTE = (
    "The grader of an assertion failed, which promptfoo counts as a score of 0; here there is none"
)
NO_ASSERTIONS_NOTE = "It has no assertions, which promptfoo counts as passed"
RECOMPUTED_METRIC_NOTE = (
    "A metric is the mean of its assertions here, where promptfoo wrote down a sum, or 0 for a weight of 0"
)

MAX_REASON_LENGTH = 500

MODEL_GRADED_PREFIXES = ("llm-rubric", "g-eval", "factuality", "model-graded", "answer-relevance", "context-")
"""Prefixes of the types of assertions that ask a model for a verdict. A leading `not-` is ignored."""

NO_OUTPUT_REASON = "No output"
NO_VERDICT_PREFIXES = ("Could not extract JSON from", "API error", "API call error")
MALFORMED_VERDICT_TEXT = "produced malformed response"
"""`NO_OUTPUT_REASON`: reason of a failed assertion that shows that its grader model did not give a verdict.

`NO_VERDICT_PREFIXES`: a reason that begins with one of these texts shows the same. `MALFORMED_VERDICT_TEXT`:
a reason that contains this text shows the same. The texts are from src/matchers.ts, in versions before
`graderError`.
"""


class CellScores(NamedTuple):
    """The scores of a cell, and remarks in words on peculiarities of the cell."""

    scores: dict[str, ForeignScore]
    remarks: tuple[str, ...]


def cell_scores(cell: Mapping[str, Any]) -> CellScores:
    """Return the scores of a graded cell.

    If the grader of an assertion failed, promptfoo records the assertion as failed with a score of 0, although
    that does not show anything about the model. Scores that depend on such an assertion have no value here.
    """
    grading = object_or_empty(cell.get("gradingResult"))
    parts = objects_in_list(grading.get("componentResults"))
    failures = [part for part in parts if _grader_failed(part)]
    reason = text_or_empty(grading.get("reason")) or None
    if failures:
        told = one_line(text_or_empty(failures[0].get("reason")) or "the grader failed", MAX_REASON_LENGTH)
        own = dict.fromkeys(CELL_SCORE_NAMES, ForeignScore(None, Status.GRADER_ERROR, explanation=told))
    else:
        values = {
            PASS_SCORE_NAME: number_or_none(cell.get("success")),
            OVERALL_SCORE_NAME: number_or_none(cell.get("score")),
        }
        own = {
            name: ForeignScore(value, explanation=reason)
            for name, value in values.items()
            if value is not None
        }
    metrics = dict(_metrics(cell, parts, failures, reason))
    written = object_or_empty(cell.get("namedScores"))
    another = any(
        one.value is not None and one.value != number_or_none(written.get(name.removeprefix(METRIC_PREFIX)))
        for name, one in metrics.items()
    )
    remarks = [FAILED_GRADER_NOTE] * bool(failures) + [RECOMPUTED_METRIC_NOTE] * another
    if not parts and reason == "No assertions":
        remarks.append(NO_ASSERTIONS_NOTE)
    return CellScores(own | metrics, tuple(remarks))


def _grader_failed(part: Mapping[str, Any]) -> bool:
    """Return True if an assertion has no verdict because its grader failed.

    Newer versions of promptfoo record the failure (`metadata.graderError`). In older versions, only the text
    of the reason shows the failure.
    """
    if object_or_empty(part.get("metadata")).get("graderError") is True:
        return True
    kind = text_or_empty(object_or_empty(part.get("assertion")).get("type")).removeprefix("not-")
    by_model = kind.startswith(MODEL_GRADED_PREFIXES) or "assertion" not in part
    reason = text_or_empty(part.get("reason"))
    silent = (
        reason == NO_OUTPUT_REASON
        or reason.startswith(NO_VERDICT_PREFIXES)
        or MALFORMED_VERDICT_TEXT in reason
    )
    return by_model and part.get("score") == 0 and silent


def _metrics(
    cell: Mapping[str, Any], parts: list[dict[str, Any]], failures: list[dict[str, Any]], reason: str | None
) -> Iterator[tuple[str, ForeignScore]]:
    weights = object_or_empty(object_or_empty(cell.get("gradingResult")).get("namedScoreWeights"))
    lost = {text_or_empty(object_or_empty(part.get("assertion")).get("metric")) for part in failures}
    for name, given in object_or_empty(cell.get("namedScores")).items():
        shown = f"{METRIC_PREFIX}{name}" if name in CELL_SCORE_NAMES else name
        if name in lost or (failures and "" in lost and name not in _named(parts)):
            yield shown, ForeignScore(None, Status.GRADER_ERROR, explanation="its grader failed")
        elif (
            value := _metric(
                number_or_none(given), _named(parts).get(name, []), number_or_none(weights.get(name))
            )
        ) is not None:
            yield shown, ForeignScore(value, explanation=reason)


def _metric(written: float | None, parts: list[dict[str, Any]], weight: float | None) -> float | None:
    """Return the value of a metric: the weighted mean of its assertions. `written`: the value in the file.

    The written value may differ from this mean. A metric of weight 0 is written as 0, whatever its assertions
    score. In files without weights, the written value is the sum of the assertions' scores.
    """
    scores = [
        (
            number_or_none(part.get("score")),
            number_or_none(object_or_empty(part.get("assertion")).get("weight")),
        )
        for part in parts
    ]
    known = [(score, 1.0 if given is None else given) for score, given in scores if score is not None]
    if not known or (weight and weight > 0):
        return written
    total = sum(given for _, given in known)
    if total > 0:
        return sum(score * given for score, given in known) / total
    return sum(score for score, _ in known) / len(known)


def _named(parts: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Group the assertions of a cell by the name of their metric."""
    found: dict[str, list[dict[str, Any]]] = {}
    for part in parts:
        if metric := text_or_empty(object_or_empty(part.get("assertion")).get("metric")):
            found.setdefault(metric, []).append(part)
    return found
