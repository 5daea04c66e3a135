"""Requested figures that a run could not compute: the results of a model, the values of a score, a pack's
total.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchwright.analysis.summary_records import TargetSummary
from benchwright.records import Status
from benchwright.runs.counting_rules import FAILURE_STATUSES
from benchwright.runs.manifest import Manifest
from benchwright.runs.manifest_facts import IMPORT_KIND

STATUSES_WITHOUT_RESULT = FAILURE_STATUSES - {Status.GRADER_ERROR}
"""Statuses of a finished trial that has no result to score."""


def shortfalls(manifest: Manifest, targets: Sequence[TargetSummary]) -> list[str]:
    """Return a sentence for each figure that could not be computed, with the most frequent reason.

    There are three kinds: a model without any result, a scorer without any score, and a pack's total over cells
    without a result. Trials that are not done yet do not count. Return an empty list if all figures could be
    computed.
    """
    return [sentence for target in targets for sentence in _of_target(manifest, target)]


def count_without_result(statuses: Mapping[str, int]) -> int:
    """Return the number of trials that have no result to score. `statuses`: number of trials by status."""
    return sum(count for status, count in statuses.items() if status in STATUSES_WITHOUT_RESULT)


def count_failed_trials(statuses: Mapping[str, int]) -> int:
    """Return the number of failed trials (no result, or a failed grader). `statuses`: number of trials by status."""
    return sum(count for status, count in statuses.items() if status in FAILURE_STATUSES)


def too_many_failures_sentence(
    failed: int, done: int, most: str | None, trials: str, option: str = "--max-failures"
) -> Iterator[str]:
    """Yield a sentence if more trials failed than allowed.

    `most` is the value of the option: a number, or a share such as 2%; None for no limit. `trials` is what the
    sentence calls the trials.
    """
    if most is None:
        return
    allowed = float(most[:-1]) / 100 * done if most.endswith("%") else int(most)
    if failed > allowed:
        yield f"{failed:,} of {done:,} {trials} failed, more than {option} {most} allows"


def _of_target(manifest: Manifest, target: TargetSummary) -> Iterator[str]:
    missing, model = count_without_result(target.statuses), target.model
    noun = "cell" if manifest.kind == "pack" else "trial"
    why = "".join(f": {reason}" for reason in list(target.failures)[:1])
    if target.trials and missing == target.trials:
        yield f"{model} has no result: {_all(target.trials, noun)} failed{why}"
        return
    if manifest.kind == "pack" and missing:
        yield f"The total of {model} is incomplete: {missing:,} of its {target.trials:,} cells failed{why}"
    known = {score.scorer: score for score in target.scores}
    for scorer in manifest.scorers:
        score = known.get(scorer.name)
        if score is not None and score.n and not score.n_scored:
            if manifest.kind == IMPORT_KIND and Status.GRADER_ERROR not in target.statuses:
                yield f"{model} has no score by {scorer.name}: its files have no number for any trial"
                continue
            own = [reason for reason in target.failures if reason.startswith(f"{scorer.name}: ")]
            why = "".join(reason.removeprefix(scorer.name) for reason in own[:1])
            yield f"{model} has no score by {scorer.name}: the scorer failed in {_all(score.n, noun)}{why}"


def _all(count: int, noun: str) -> str:
    return f"its only {noun}" if count == 1 else f"all {count:,} {noun}s"
