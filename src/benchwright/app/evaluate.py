"""`eval`: a dataset, something that answers (an agent, or the model itself) and something that scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.prompt_task import PromptTask
from benchwright.app.checks import check_eval
from benchwright.app.endpoints import make_target, resolve_key
from benchwright.app.launch import Launch
from benchwright.config import EvalSettings
from benchwright.data.fingerprint import file_fingerprint
from benchwright.engine.manifest import DataFile
from benchwright.engine.plan import Plan, TrialLimits
from benchwright.engine.protocols import Scorer, Task
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.scorers.registry import SCORERS, make_scorer

ANSWER_WITH_A_LETTER = "{prompt}\n\nAnswer with the letter of the right option."

Say = Callable[[str], None]


def prepare_eval(settings: EvalSettings, say: Say) -> Launch:
    """Checks everything that can be checked without asking a model, and composes the run.

    Raises:
        UserError: something is missing, cannot be loaded, or is not as it should be; names it and says what
            to do.
    """
    check_eval(settings)
    assert settings.dataset is not None
    assert settings.model is not None
    task = _task(settings, settings.dataset)
    target = make_target("primary", settings.model, settings.base_url, _model_settings(settings))
    given = settings.api_key.get_secret_value() if settings.api_key else None
    keys = {"primary": resolve_key(given, target, say)}
    helpers = []
    if "judge" in settings.scorer:
        judge, keys["judge"] = _judge(settings, target, keys["primary"], say)
        helpers.append(judge)
    samples = task.size()
    return Launch(
        kind="eval",
        name=f"{settings.dataset.stem}-{settings.model.rpartition('/')[2]}",
        plan=Plan(
            task=task,
            samples=samples,
            targets=(target,),
            helpers=tuple(helpers),
            repeats=settings.n,
            limits=TrialLimits(tokens=settings.trial_tokens, seconds=settings.trial_seconds),
        ),
        settings=settings,
        data=(
            DataFile(
                path=str(settings.dataset),
                xxh3=file_fingerprint(settings.dataset),
                samples=samples,
                offset=settings.offset,
                columns=settings.column,
            ),
        ),
        pass_threshold=settings.pass_threshold,
        keys=keys,
    )


def _task(settings: EvalSettings, path: Path) -> Task:
    scorers = _scorers(settings)
    if settings.module is None:
        return PromptTask(
            path,
            scorers,
            columns=settings.column,
            needs_target=bool(settings.eval_fn) or any(name != "judge" for name in settings.scorer),
            system=settings.system,
            template=_template(settings),
            limit=settings.limit,
            offset=settings.offset,
            group_by=settings.group_by,
        )
    from benchwright.agents.agent_task import AgentTask
    from benchwright.agents.loading import load_agent

    return AgentTask(
        path,
        load_agent(settings.module),
        scorers,
        module=settings.module,
        limit=settings.limit,
        offset=settings.offset,
        max_turns=settings.max_turns,
        completion_params=_completion_params(settings),
        group_by=settings.group_by,
    )


def _scorers(settings: EvalSettings) -> Sequence[Scorer]:
    scorers: list[Scorer] = [make_scorer(name, _scorer_options(name, settings)) for name in settings.scorer]
    scorers.extend(EvalFnScorer(wrapper) for wrapper in load_eval_fns(settings.eval_fn))
    names = [scorer.name for scorer in scorers]
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"The scorer {name!r} is there twice.")
    return scorers


def _scorer_options(name: str, settings: EvalSettings) -> dict[str, str]:
    """The options given that this scorer has, all of them if it is the only scorer; the judge's model too."""
    given = settings.scorer_option
    if len(settings.scorer) > 1 and name in SCORERS:
        for option in given:
            if not any(option in SCORERS[each].options for each in settings.scorer if each in SCORERS):
                raise UserError(f"None of the scorers has an option {option!r}.")
        given = {option: value for option, value in given.items() if option in SCORERS[name].options}
    if name == "judge":
        return {"model": settings.judge_model or settings.model or "", **given}
    return given


def _template(settings: EvalSettings) -> str | None:
    """The template given; else, for multiple choice, a request to answer with a letter."""
    if settings.template is None and "mcq" in settings.scorer:
        return ANSWER_WITH_A_LETTER
    return settings.template


def _completion_params(settings: EvalSettings) -> dict[str, float | int]:
    """What the documents pass to the agent, which hands it on: temperature and max_tokens, where given."""
    params = {"temperature": settings.temperature, "max_tokens": settings.max_tokens}
    return {name: value for name, value in params.items() if value is not None}


def _model_settings(settings: EvalSettings) -> dict[str, object]:
    own = {} if settings.module is not None else _completion_params(settings)
    return {**own, "seed": settings.seed, **settings.param}


def _judge(settings: EvalSettings, target: Target, key: str | None, say: Say) -> tuple[Target, str | None]:
    """The judge's target; without a model of its own the model under test judges itself, which is said."""
    if settings.judge_model is None:
        say("No --judge-model: the model judges its own answers, so the scores are not comparable.")
        judge = Target("judge", target.model, target.base_url)
        return judge, key
    judge = make_target("judge", settings.judge_model, settings.judge_base_url or settings.base_url, {})
    if settings.judge_api_key_env is not None:
        given = os.environ.get(settings.judge_api_key_env)
        if given is None:
            raise UserError(f"--judge-api-key-env names {settings.judge_api_key_env}, which is not set.")
        return judge, resolve_key(given, judge, say)
    same_host = judge.base_url == target.base_url
    return judge, key if same_host else resolve_key(None, judge, say)
