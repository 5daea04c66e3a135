"""Converts EvalScope's reviews to trials. A review file has one line per answer, with the answer's scores.

The usage and times come from the prediction files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchwright.formats import count_with_noun
from benchwright.interop.foreign_results import ForeignScore, ForeignTrial, UnreadableResults
from benchwright.interop.inspect_sample import to_openai_message, usage_of
from benchwright.interop.untrusted_files import (
    count_or_none,
    number_or_none,
    object_or_empty,
    objects_in_list,
    read_lines,
    require_object,
    text_or_empty,
    to_nanoseconds,
)
from benchwright.records import RequestRecord, Status

REVIEW_FILES_GLOB = "*.jsonl"
COUNTED_SCORE_STATUSES = ("", "success", "fallback", "degraded")
"""Statuses of scores that count. EvalScope excludes scores with other statuses (constants.ScoreStatus)."""

SampleId = int | str


class ReviewSubset(NamedTuple):
    """A subset of a dataset: its file of reviews and its file of predictions."""

    name: str
    reviews_file: Path
    predictions_file: Path

    @property
    def existing_files(self) -> list[Path]:
        """The review file and the prediction file. A file that does not exist is left out."""
        return [one for one in (self.reviews_file, self.predictions_file) if one.is_file()]


class SampleRepeat(NamedTuple):
    """The sample (within its subset) to which a review belongs, and the number of the repeat."""

    sample: SampleId
    repeat: int


class ReviewOverview(NamedTuple):
    """An overview of a dataset's reviews, from a first pass over them.

    `attempts_by_line`: mapping from a file to {line number: attempt}, for the lines that count. A resumed evaluation
    may append the same answer again; EvalScope takes the last one. `metrics`: the names of all scores, in
    order.
    """

    attempts_by_line: dict[Path, dict[int, SampleRepeat]]
    metrics: list[str]
    repeats: int
    notes: list[str]


def scan_reviews(subsets: Sequence[ReviewSubset]) -> ReviewOverview:
    """Make a first pass over the reviews, to find the lines that count and the metrics.

    Raises:
        UnreadableResults: If a line is damaged. The last line of a file may be, because an interruption may
            have cut it short.
    """
    attempts: dict[Path, dict[int, SampleRepeat]] = {}
    metrics: dict[str, None] = {}
    again = 0
    torn: list[str] = []
    for subset in subsets:
        last: dict[SampleId, tuple[int, SampleId, int | None]] = {}
        for place, review in _lines(subset.reviews_file, torn):
            answer, sample, repeat = _ids(review, f"{subset.reviews_file}, line {place}")
            again += answer in last
            last[answer] = place, sample, repeat
            metrics |= dict.fromkeys(object_or_empty(_score(review).get("value")))
        attempts[subset.reviews_file] = _numbered(last)
    repeats = 1 + max((one.repeat for lines in attempts.values() for one in lines.values()), default=0)
    notes = [f"Its last line is cut short, and left out: {name}" for name in torn]
    if again:
        notes.append(
            f"{count_with_noun(again, 'review')} stood there again; the last one of an answer counts, as in EvalScope."
        )
    return ReviewOverview(attempts, list(metrics), repeats, notes)


def trials_of(subsets: Sequence[ReviewSubset], reviews: ReviewOverview) -> Iterator[ForeignTrial]:
    """Yield the trials of the reviews that count.

    Raises:
        UnreadableResults: If a line is damaged.
    """
    for subset in subsets:
        requests = _requests(subset)
        counting = reviews.attempts_by_line[subset.reviews_file]
        for place, review in _lines(subset.reviews_file, []):
            if place in counting:
                yield _trial(subset, counting[place], review, requests, reviews.metrics)


def _lines(path: Path, torn: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line number, object) for each line.

    If the last line is cut short, the file and line number are added to `torn`.
    """
    for place, line in enumerate(read_lines(path, torn=torn), 1):
        yield place, require_object(line, f"{path}, line {place}")


def _ids(review: Mapping[str, Any], where: str) -> tuple[SampleId, SampleId, int | None]:
    """Return (id of the answer, id of its sample, number of the repeat) of a review.

    Ids of answers are numbered over all samples and repeats. Newer versions also number the repeats of a
    sample. In files of older versions, the number of the repeat is None.
    """
    sample_score = object_or_empty(review.get("sample_score"))
    answer = next(filter(_is_id, (sample_score.get("sample_id"), review.get("index"))), None)
    sample = next(filter(_is_id, (sample_score.get("group_id"), answer)), None)
    if sample is None:
        raise UnreadableResults(
            f"{where}: a review without a sample, as EvalScope before 1.0 wrote them; those are not read."
        )
    repeat = count_or_none(sample_score.get("generation_index"))
    name = f"{sample}-{repeat}" if answer is None else answer
    return name, sample, None if repeat is None else min(repeat, 100_000)


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str)


def _numbered(last: Mapping[SampleId, tuple[int, SampleId, int | None]]) -> dict[int, SampleRepeat]:
    """Return a mapping from the line number of each review to its sample and the number of its repeat.

    Repeats without a number are numbered in the order of their answers' ids.
    """
    seen: Counter[SampleId] = Counter()
    found = {}
    for answer in sorted(last, key=lambda one: (isinstance(one, str), one)):
        place, sample, repeat = last[answer]
        found[place] = SampleRepeat(sample, seen[sample] if repeat is None else repeat)
        seen[sample] += 1
    return found


def _score(review: Mapping[str, Any]) -> dict[str, Any]:
    return object_or_empty(object_or_empty(review.get("sample_score")).get("score"))


def _trial(
    subset: ReviewSubset,
    attempt: SampleRepeat,
    review: Mapping[str, Any],
    requests: Mapping[int | None, RequestRecord],
    metrics: Sequence[str],
) -> ForeignTrial:
    messages = [to_openai_message(one, {}) for one in objects_in_list(review.get("messages"))]
    score = _score(review)
    asked = next((one["content"] for one in messages if one["role"] == "user"), review.get("input"))
    target = review.get("target")
    index = count_or_none(review.get("index"))
    return ForeignTrial(
        sample=f"{subset.name}/{attempt.sample}",
        repeat=attempt.repeat,
        scores=_scores(score, metrics),
        input=asked if isinstance(asked, str) else None,
        target=", ".join(map(str, target)) if isinstance(target, list) else text_or_empty(target) or None,
        messages=messages,
        answer=text_or_empty(score.get("prediction")),
        requests=[requests[index]] if index in requests else [],
        labels={"subset": subset.name},
    )


def _scores(score: Mapping[str, Any], metrics: Sequence[str]) -> dict[str, ForeignScore]:
    """Return the scores of a review by metric.

    If a metric failed, EvalScope writes 0. Such a score has no value here.

    If a judge failed, EvalScope omits the metric.
    """
    values = object_or_empty(score.get("value"))
    errors = object_or_empty(object_or_empty(score.get("metadata")).get("metric_errors"))
    span, why = (
        text_or_empty(score.get("extracted_prediction")) or None,
        text_or_empty(score.get("explanation")) or None,
    )
    status = text_or_empty(score.get("status"))
    judged = text_or_empty(object_or_empty(score.get("judge_summary")).get("error")) or status
    found = {}
    for name in metrics if status not in COUNTED_SCORE_STATUSES else values:
        error = next((told for metric, told in errors.items() if _belongs(name, metric)), None)
        value = number_or_none(values.get(name))
        if error is not None:
            found[name] = ForeignScore(
                None, Status.GRADER_ERROR, explanation=text_or_empty(error) or "not computed"
            )
        elif value is not None:
            found[name] = ForeignScore(value, span=span, explanation=why)
        elif name not in values:
            found[name] = ForeignScore(None, Status.GRADER_ERROR, explanation=judged)
    return found


def _belongs(score: str, metric: str) -> bool:
    """Return True if a score's name belongs to a metric: `bleu-1` belongs to BLEU, but `accuracy` not to `acc`."""
    name, of = score.lower(), metric.lower()
    return name == of or (name.startswith(of) and not name[len(of)].isalnum())


def _requests(subset: ReviewSubset) -> dict[int | None, RequestRecord]:
    """Return the request record of each prediction, as a mapping from the prediction's index.

    If an index occurs twice, the last prediction counts.
    """
    if not subset.predictions_file.is_file():
        return {}
    found: dict[int | None, RequestRecord] = {}
    for line in read_lines(subset.predictions_file, torn=[]):
        given = object_or_empty(line)
        output = object_or_empty(given.get("model_output"))
        choices = objects_in_list(output.get("choices"))
        found[count_or_none(given.get("index"))] = RequestRecord(
            id=f"{subset.name}-{given.get('index')}",
            total=to_nanoseconds(output.get("time")),
            usage=usage_of(object_or_empty(output.get("usage"))),
            finish_reason=text_or_empty(choices[0].get("stop_reason")) or None if choices else None,
        )
    return found
