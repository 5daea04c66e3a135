"""The question that a run with `--until` decides (is one model better?), and the order of its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec.structs import replace

from benchwright.analysis.deciding.score_bounds import ACCURACY_SCORE
from benchwright.app.prepared_run import RunRequest
from benchwright.app.until.earlier_scores import find_earlier_scores
from benchwright.config import DecidingSettings, Settings
from benchwright.errors import UserError
from benchwright.packs.types import PASSED, SCORE
from benchwright.records import Trial
from benchwright.runs.question import EarlierScores, Question, shuffle_units
from benchwright.suggestions import did_you_mean
from benchwright.text import Say, make_safe

BASELINE_SLOT = "baseline"

UNTIL_OPTIONS = ("against", "margin", "error", "at_least", "decide_for", "decide_on")
"""Names of the settings that have an effect only together with `until`."""


def check_until_options(deciding: DecidingSettings, compared: int) -> None:
    """Check those `--until` options that can be checked without data.

    `compared`: number of compared models, including the baseline.

    Raises:
        UserError: If the options contradict each other.
    """
    if deciding.until is None:
        for name in UNTIL_OPTIONS:
            if getattr(deciding, name) != DecidingSettings.model_fields[name].default:
                raise UserError(f"--{name.replace('_', '-')} needs --until decided (or not-worse).")
        return
    if deciding.until == "not-worse" and not deciding.margin:
        raise UserError("--until not-worse needs --margin: the loss that would not matter, such as 0.02.")
    if deciding.against is None and compared < 2:
        raise UserError("--until needs something to compare with: a second --model, or --against RUN.")


SettingsKind = TypeVar("SettingsKind", bound=Settings)


def settings_with_shared_error(settings: SettingsKind, runs: int) -> SettingsKind:
    """Return the settings for each run, if one command decides the questions of several runs together.

    Each run gets an equal share of the error probability.
    """
    if settings.deciding.until is None or runs < 2:
        return settings
    return settings.model_copy(update={"error": settings.deciding.error / runs})


def question_of_run(request: RunRequest, say: Say) -> Question:
    """Return the question that a run is to decide, from its samples and the earlier answers of `--against`.

    Raises:
        UserError: If a score or the earlier run does not exist, or that run is not comparable with this one.
    """
    against = request.settings.deciding.against
    asked = _without_samples(request)
    if against is None:
        return replace(asked, units=shuffle_units(_units(request, None), asked.seed))
    earlier = find_earlier_scores(request, against, asked.scores, finite=asked.finite, say=say)
    units = shuffle_units(_units(request, earlier), asked.seed)
    if not units:
        raise UserError(f"--against: {make_safe(against)} has no sample in common with this run.")
    return replace(asked, units=units, earlier=earlier)


def check_same_question(kept: Question, request: RunRequest) -> None:
    """Check that the question stored with a run is the one that the settings ask.

    Raises:
        UserError: If the two differ.
    """
    against = None if kept.earlier is None else kept.earlier.reference
    if (
        replace(kept, units=[], earlier=None) != _without_samples(request)
        or against != request.settings.deciding.against
    ):
        goal = "which model is better" if kept.goal == "difference" else "whether the new model is not worse"
        raise UserError(
            f"This run is to decide {goal}, with --margin {kept.margin:g}, --error {kept.error:g} and other options as "
            "they were given then: a question is set before the first sample. Use the same, or --fresh for a new run."
        )


def _without_samples(request: RunRequest) -> Question:
    deciding = request.settings.deciding
    return Question(
        goal="difference" if deciding.until == "decided" else "not_worse",
        margin=deciding.margin,
        error=deciding.error,
        at_least=deciding.at_least,
        finite=deciding.decide_for == "these-samples",
        scores=_scores(request, deciding.decide_on),
        seed=int(request.fingerprint[:8], 16),
        units=[],
        reference=_reference(request) if deciding.against is None else "",
    )


def _scores(request: RunRequest, wanted: Sequence[str]) -> list[str]:
    """Return the names of the scores on which a run is decided.

    These are the scores in `wanted`. If `wanted` is empty, they are the main scores of this kind of run.
    """
    scorers = [scorer.name for scorer in request.plan.task.scorers]
    known = {"benchmark": [ACCURACY_SCORE, SCORE], "pack": [PASSED, SCORE]}.get(request.kind, scorers)
    for name in wanted:
        if name not in known:
            raise UserError(
                f"--decide-on {make_safe(name)}: there is no such score.{did_you_mean(name, known)}"
            )
    return list(dict.fromkeys(wanted)) or (scorers if request.kind == "eval" else known[:1])


def _reference(request: RunRequest) -> str:
    """Return the slot of the old model. It is the baseline's slot, or the first slot if there is no baseline."""
    slots = [target.slot for target in request.plan.targets]
    return BASELINE_SLOT if BASELINE_SLOT in slots else slots[0]


def _units(request: RunRequest, earlier: EarlierScores | None) -> dict[str, list[str]]:
    """Return the sample ids by cluster (the unit of the test). A sample without a group is a cluster of its own.

    `earlier`: earlier answers; if there are any, samples without all of their scores are left out.
    """
    units: dict[str, list[str]] = {}
    for sample, _ in request.plan.samples_with_digests():
        if earlier is None or all(sample.id in scores for scores in earlier.scores.values()):
            name = f"sample {sample.id}" if sample.group is None else f"group {sample.group}"
            units.setdefault(name, []).append(sample.id)
    return units


def question_order(question: Question) -> Callable[[Iterator[Trial]], Iterator[Trial]]:
    """Return a function that sorts trials into the question's order of samples.

    Samples that are not part of the question come last.
    """
    places = {sample: place for place, unit in enumerate(question.units) for sample in unit}
    last = len(question.units)

    def arrange(trials: Iterator[Trial]) -> Iterator[Trial]:
        return iter(sorted(trials, key=lambda trial: places.get(trial.sample.id, last)))

    return arrange
