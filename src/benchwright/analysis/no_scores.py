"""Texts about missing scores. Wherever a summary is shown, each reason appears only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from benchwright.statistic import NoScore

if TYPE_CHECKING:
    from benchwright.analysis.summary_records import ScoreSummary, TargetSummary


class UnscoredScorers(NamedTuple):
    """Scorers of a target that have no score for any trial. All of these scorers have the same reasons."""

    scorers: list[str]
    no_score: NoScore

    def text(self, said: str = "") -> str:
        """Return a text such as `exact, regex: no score (11 of 11 failed: …)`.

        The reason is omitted if it equals `said`, which is shown elsewhere. If there are several reasons, they
        are omitted too, because each has its own line (see `remaining_failures`).
        """
        told = (
            self.no_score.brief
            if len(self.no_score.reasons) > 1 or said in self.no_score.reasons
            else str(self.no_score)
        )
        return f"{', '.join(self.scorers)}: {told}"


def unscored_scorers(target: TargetSummary) -> list[UnscoredScorers]:
    """Return the scorers of a target that have no score at all, grouped by their reasons."""
    return group_unscored_scorers(target.scores)


def group_unscored_scorers(scores: Iterable[ScoreSummary]) -> list[UnscoredScorers]:
    """Return the scorers that have no score at all, grouped by their reasons.

    `scores`: the summaries of the scores.
    """
    found: list[UnscoredScorers] = []
    for score in scores:
        if score.no_score is None:
            continue
        same = next((one for one in found if one.no_score == score.no_score), None)
        if same is None:
            found.append(UnscoredScorers([score.scorer], score.no_score))
        else:
            same.scorers.append(score.scorer)
    return found


def remaining_failures(target: TargetSummary, said: str = "") -> dict[str, int]:
    """Return the reasons why trials of a target failed, with counts.

    Reasons that are already shown with the target's scores, and the reason `said`, are left out.
    """
    told = {said, *_told(target)}
    return {reason: count for reason, count in target.failures.items() if reason not in told}


def _told(target: TargetSummary) -> Iterator[str]:
    """Yield the reasons that `UnscoredScorers.text` shows, worded as in `TargetSummary.failures`."""
    for one in unscored_scorers(target):
        if len(one.no_score.reasons) == 1:
            (reason,) = one.no_score.reasons
            yield reason
            yield from (f"{scorer}: {reason}" for scorer in one.scorers)


def remove_shown_reason(sentence: str, targets: Sequence[TargetSummary]) -> str:
    """Return a sentence without the reason at its end, if that reason is already shown with the targets.

    Return an empty text if the sentence consists only of the reason.
    """
    return remove_reason(sentence, _reasons(targets))


def remove_reason(sentence: str, reasons: Iterable[str]) -> str:
    """Return a sentence without the reason at its end, if it is one of `reasons`.

    Return an empty text if the sentence consists only of the reason.
    """
    for reason in sorted(reasons, key=len, reverse=True):
        if sentence == reason:
            return ""
        if reason and sentence.endswith(f": {reason}"):
            return sentence.removesuffix(f": {reason}")
    return sentence


def _reasons(targets: Iterable[TargetSummary]) -> Iterator[str]:
    for target in targets:
        yield from target.failures
        for score in target.scores:
            yield from score.no_score.reasons if score.no_score is not None else ()
            own = f"{score.scorer}: "
            yield from (one.removeprefix(own) for one in target.failures if one.startswith(own))
