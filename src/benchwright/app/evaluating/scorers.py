"""The scorers of an eval: built-in scorers, the user's own, and eval functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.loading import describe_error, load_object
from benchwright.agents.user_scorers import user_scorer
from benchwright.config import EvalScoring
from benchwright.engine.protocols import Scorer
from benchwright.entry_points import find_entry_points
from benchwright.errors import UserError
from benchwright.scorers.registry import SCORERS, make_scorer
from benchwright.suggestions import did_you_mean

SCORER_ENTRY_POINTS = "benchwright.scorers"
"""Entry point group of scorers. Each entry point names a function, a `Scorer`, or a scorer class."""


def eval_scorers(scoring: EvalScoring, judge_model: str, objects: Mapping[str, Any]) -> Sequence[Scorer]:
    """Return the scorers that the settings name. `judge_model`: the model that the scorer `judge` asks.

    `objects`: scorers that are loaded already, by name.

    Raises:
        UserError: If a scorer does not exist or cannot be created, an option is unknown, or a name is
            repeated.
    """
    scorers = [_scorer(name, scoring, judge_model, objects) for name in scoring.scorer]
    scorers.extend(EvalFnScorer(wrapper) for wrapper in load_eval_fns(scoring.eval_fn))
    names = [scorer.name for scorer in scorers]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"The scorer {name!r} is given twice.")
    return scorers


def needs_target(scoring: EvalScoring, scorers: Sequence[Scorer]) -> bool:
    """Return True if every row needs a target, so that a row without one is an error.

    A judge needs no target; users' scorers declare whether they need one.
    """
    compared = any(name in SCORERS and name != "judge" for name in scoring.scorer)
    return bool(scoring.eval_fn) or compared or any(getattr(one, "needs_target", False) for one in scorers)


def _scorer(name: str, scoring: EvalScoring, judge_model: str, objects: Mapping[str, Any]) -> Scorer:
    if name in SCORERS:
        return make_scorer(name, _options(name, scoring, judge_model))
    scorer = user_scorer(_own(name, objects), name)
    if scoring.scorer_option and not any(each in SCORERS for each in scoring.scorer):
        raise UserError(f"The scorer '{name}' has no options; remove --scorer-option.")
    return scorer


def _own(name: str, objects: Mapping[str, Any]) -> Any:
    """Return the user's scorer that is named `name`. `objects`: scorers that are loaded already, by name.

    Raises:
        UserError: If there is no such object, or it cannot be loaded.
    """
    if name in objects:
        return objects[name]
    if ":" in name:
        return load_object(name, kind="scorer", form="module:name", example="my_scorers:is_polite")
    entries = {entry.name: entry for entry in find_entry_points(SCORER_ENTRY_POINTS)}
    if name not in entries:
        known = [*SCORERS, *sorted(entries)]
        raise UserError(
            f"Unknown scorer '{name}'.{did_you_mean(name, known)} Scorers: {', '.join(known)}, "
            "or your own as module:name"
        )
    try:
        return entries[name].load()
    except (Exception, SystemExit) as failure:  # a user's module may raise anything
        raise UserError(
            f"The scorer '{name}' ({entries[name].value}) cannot be loaded: {describe_error(failure)}"
        ) from failure


def _options(name: str, scoring: EvalScoring, judge_model: str) -> dict[str, str]:
    """Return the options to pass to the scorer `name`. The options of the scorer `judge` include the judge's model.

    A single scorer gets all given options. If there are several scorers, each gets only the options that it knows.
    Raises UserError if none of several scorers knows an option.
    """
    given = scoring.scorer_option
    if len(scoring.scorer) > 1:
        for option in given:
            if not any(option in SCORERS[each].option_parsers for each in scoring.scorer if each in SCORERS):
                raise UserError(f"No scorer has an option {option!r}.")
        given = {option: value for option, value in given.items() if option in SCORERS[name].option_parsers}
    if name == "judge":
        return {"model": judge_model, **given}
    return given
