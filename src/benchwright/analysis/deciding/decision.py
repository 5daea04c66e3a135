"""The decision of a run: its verdicts and intervals, and the trials, requests and tokens that it saved."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from benchwright.analysis.deciding.model_comparison import ModelComparison
from benchwright.analysis.deciding.question_tracker import QuestionTracker
from benchwright.analysis.deciding.records import DecisionVerdict, ModelDecision, RunDecision
from benchwright.analysis.deciding.score_bounds import ScoreOutOfRange
from benchwright.analysis.scores import failure_reasons
from benchwright.runs.manifest import Manifest, display_names
from benchwright.runs.question import read_question
from benchwright.runs.table import RunTable
from benchwright.statistic import NoScore

VERDICTS_WORST_FIRST: tuple[DecisionVerdict, ...] = (
    "worse",
    "undecided",
    "equivalent",
    "not_worse",
    "better",
)
"""Verdicts in order, the least favourable for the new model first."""

DECISION_METHOD = "betting confidence sequence"


def decision_of(directory: Path, manifest: Manifest, table: RunTable) -> RunDecision | None:
    """Return the decision of a run, based on the trials in its table. None if the run has no question.

    Raises:
        UserError: If the question cannot be read.
    """
    question = read_question(directory)
    if question is None:
        return None
    following = QuestionTracker(question, manifest, table)
    try:
        following.process_complete_units()
    except ScoreOutOfRange as error:
        return current_decision(following, str(error))
    return current_decision(following)


def current_decision(following: QuestionTracker, refusal: str | None = None) -> RunDecision:
    """Return the current decision, based on the units (samples, or clusters of samples) processed so far."""
    question, manifest, table = following.question, following.manifest, following.table
    names = _names(manifest)
    old = names[question.reference] if question.earlier is None else question.earlier.model
    models = [_of_model(following, one, names[one.slot], old) for one in following.models]
    only = models[0] if len(models) == 1 else None
    made = int(table.counted_mask().sum())
    planned = question.samples * manifest.repeats * len(manifest.targets)
    left = max(0, planned - made)
    requests = list(table.requests.values())
    share = left / made if made else 0.0
    tokens = sum(one.prompt_tokens + one.completion_tokens for one in requests)
    return RunDecision(
        verdict=min((one.verdict for one in models), key=VERDICTS_WORST_FIRST.index),
        goal=question.goal,
        margin=question.margin,
        error=question.error,
        used=following.samples,
        planned=question.samples,
        method=f"{DECISION_METHOD}, {'these samples' if question.finite else 'new questions'}",
        order_seed=question.seed,
        over=following.is_over,
        models=models,
        difference=None if only is None else only.difference,
        low=None if only is None else only.low,
        high=None if only is None else only.high,
        finite=question.finite,
        groups=any(len(unit) > 1 for unit in question.units),
        beyond=made - following.samples * manifest.repeats * len(manifest.targets),
        trials_saved=left,
        requests_saved=round(share * sum(one.requests for one in requests)),
        tokens_saved=round(share * tokens),
        refusal=refusal,
    )


def _of_model(following: QuestionTracker, one: ModelComparison, model: str, than: str) -> ModelDecision:
    """Return the decision on a model. If nothing on one side was scored, it is undecided and has no difference."""
    decision = one.decision(model, than)
    sides = [one.slot, *([one.than] if one.old is None else [])]
    unscored = [slot for slot in sides if (slot, one.score) not in following.scored]
    if not unscored:
        return decision
    none = _no_score(following, unscored[0], one.score) if decision.used else NoScore(0)
    return replace(decision, verdict="undecided", difference=none, low=none, high=none)


def _no_score(following: QuestionTracker, slot: str, score: str) -> NoScore:
    """Return the reason why nothing of a model was scored."""
    manifest, table = following.manifest, following.table
    rows = table.counted_mask(slot)
    name = manifest.scorers[0].name if manifest.kind == "benchmark" else score
    return NoScore(int(rows.sum()), failure_reasons(table, name, rows))


def _names(manifest: Manifest) -> dict[str, str]:
    """Return the readable names of the models, as {slot: name}.

    They are as the user typed them, unless that is ambiguous.
    """
    names = display_names(manifest)
    typed = {slot: manifest.typed_models.get(slot, name) for slot, name in names.items()}
    return typed if len(set(typed.values())) == len(typed) else names
