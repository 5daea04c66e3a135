"""How an eval scores: built-in scorers, those of the user, and eval functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.loading import in_one_line, load_object
from benchwright.agents.own_scorers import own_scorer
from benchwright.config import EvalSettings
from benchwright.engine.protocols import Scorer
from benchwright.entry_points import declared
from benchwright.errors import UserError
from benchwright.scorers.registry import SCORERS, make_scorer
from benchwright.suggest import did_you_mean

GROUP = "benchwright.scorers"
"""The entry points' group; each names a function, a `Scorer`, or a class of one."""


def eval_scorers(settings: EvalSettings, objects: Mapping[str, Any]) -> Sequence[Scorer]:
    """The scorers that the settings name; `objects` are those that need not be looked for, by their names.

    Raises:
        UserError: there is no such scorer, it cannot be made, an option is not known, or a name is there twice.
    """
    scorers = [_scorer(name, settings, objects) for name in settings.scorer]
    scorers.extend(EvalFnScorer(wrapper) for wrapper in load_eval_fns(settings.eval_fn))
    names = [scorer.name for scorer in scorers]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"The scorer {name!r} is given twice.")
    return scorers


def needs_target(settings: EvalSettings, scorers: Sequence[Scorer]) -> bool:
    """Whether a row without a target is a mistake: a judge can do without, and users' scorers say for themselves."""
    compared = any(name in SCORERS and name != "judge" for name in settings.scorer)
    return bool(settings.eval_fn) or compared or any(getattr(one, "needs_target", False) for one in scorers)


def _scorer(name: str, settings: EvalSettings, objects: Mapping[str, Any]) -> Scorer:
    if name in SCORERS:
        return make_scorer(name, _options(name, settings))
    scorer = own_scorer(_own(name, objects), name)
    if settings.scorer_option and not any(each in SCORERS for each in settings.scorer):
        raise UserError(f"The scorer '{name}' has no options; remove --scorer-option.")
    return scorer


def _own(name: str, objects: Mapping[str, Any]) -> Any:
    """What the name of a scorer stands for that is not built in.

    Raises:
        UserError: nothing, or it cannot be loaded.
    """
    if name in objects:
        return objects[name]
    if ":" in name:
        return load_object(name, kind="scorer", form="module:name", example="my_scorers:is_polite")
    entries = {entry.name: entry for entry in declared(GROUP)}
    if name not in entries:
        known = [*SCORERS, *sorted(entries)]
        raise UserError(
            f"Unknown scorer '{name}'.{did_you_mean(name, known)} Scorers: {', '.join(known)}, "
            "or your own as module:name"
        )
    try:
        return entries[name].load()
    except (Exception, SystemExit) as failure:  # a user's module raises what it likes
        raise UserError(
            f"The scorer '{name}' ({entries[name].value}) cannot be loaded: {in_one_line(failure)}"
        ) from failure


def _options(name: str, settings: EvalSettings) -> dict[str, str]:
    """The options given that this scorer has, all of them if it is the only scorer; the judge's model too."""
    given = settings.scorer_option
    if len(settings.scorer) > 1:
        for option in given:
            if not any(option in SCORERS[each].options for each in settings.scorer if each in SCORERS):
                raise UserError(f"No scorer has an option {option!r}.")
        given = {option: value for option, value in given.items() if option in SCORERS[name].options}
    if name == "judge":
        return {"model": settings.judge_model or settings.model or "", **given}
    return given
