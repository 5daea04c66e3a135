"""`eval`: a dataset, something that answers (an agent, or the model itself) and something that scores."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from inspect import isroutine
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.prompt_task import PromptTask
from benchwright.app.checks import check_eval
from benchwright.app.dataset_check import DatasetUnchanged
from benchwright.app.eval_shelf import EvalShelf
from benchwright.app.launch import Ended, Launch, launch
from benchwright.app.sharding import eval_recipe
from benchwright.config import EvalSettings
from benchwright.data.errors import DatasetError
from benchwright.data.fingerprint import file_fingerprint
from benchwright.endpoint.providers import check_target, find_key, find_target
from benchwright.engine.earlier import NO_REUSE, EarlierRun, Reuse
from benchwright.engine.manifest import DataFile
from benchwright.engine.plan import Plan, TrialLimits
from benchwright.engine.protocols import Scorer, Task
from benchwright.engine.run import Listener
from benchwright.errors import UserError
from benchwright.records import Target
from benchwright.scorers.registry import SCORERS, make_scorer

if TYPE_CHECKING:
    from pydantic import SecretStr

ANSWER_WITH_A_LETTER = "{prompt}\n\nAnswer with the letter of the right option."

Say = Callable[[str], None]

MOST_EARLIER_RUNS = 20
MOST_RUNS_LOOKED_AT = 3
"""Runs that --reuse takes from; runs that are looked at to offer it."""

LARGEST_OFFER = 20_000
"""Trials of a plan up to which it is worth counting what earlier runs have of it."""


class EvalRun:
    """An eval that is ready to go: every check that needs no model has passed."""

    def __init__(
        self, settings: EvalSettings, request: Launch, shelf: EvalShelf, unchanged: DatasetUnchanged
    ) -> None:
        self.settings = settings
        self.unchanged = unchanged
        self.request = request
        self.shelf = shelf

    async def launch(self, listeners: Sequence[Listener], say: Say) -> Ended:
        """Runs it; see `launch.launch`. Offers, or with --reuse takes over, what earlier runs have."""
        settings = self.settings
        reuse = NO_REUSE
        wanted = settings.reuse or settings.rescore
        if wanted or not (settings.fresh or self.shelf.has_entry()):
            most = MOST_EARLIER_RUNS if wanted else MOST_RUNS_LOOKED_AT
            runs = tuple(EarlierRun(path) for path in islice(self.shelf.earlier_runs(), most))
            if settings.rescore:
                _check_known(self.request.plan, runs, say)
            if wanted:
                reuse = Reuse(runs, scores=not settings.rescore, only_known=settings.rescore)
            else:
                _offer(self.request.plan, runs, say)
        try:
            return await launch(self.request, listeners, say, self.shelf, reuse)
        except DatasetError:
            reason = self.unchanged.reason()
            if reason is None:
                raise
            raise UserError(reason) from None

    def write_outputs(self, ended: Ended) -> list[Path]:
        """Writes the files that were asked for; returns them."""
        reason = ended.result.stop_reason if ended.result is not None else None
        return self.shelf.write_outputs(ended.directory, reason)

    @property
    def coverage_note(self) -> str | None:
        """What a resumed run does not notice: changes in what the user's code imports."""
        settings = self.settings
        if settings.mcp is not None:
            covered = f"MCP directory {settings.mcp}"
        elif settings.agent_command is not None:
            covered = "the files that the command names"
        elif settings.module is not None:
            covered = _covered(settings.module.rpartition(":")[0])
        else:
            return None
        return (
            f"Note: Module fingerprint covers {covered}. External dependency changes\n"
            "      are not detected. Use --fresh if you changed external imports."
        )


def _covered(module: str) -> str:
    """What of the user's code the fingerprint of a module covers: its file, or all of a package."""
    path = module.replace(".", "/")
    return f"package {path}/" if hasattr(sys.modules.get(module), "__path__") else f"file {path}.py"


def _offer(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    if not runs or plan.trial_count > LARGEST_OFFER:
        return
    known = _count_known(plan, runs)
    if known:
        say(
            f"{known:,} of {plan.trial_count:,} conversations of earlier runs are still valid; --reuse keeps them."
        )


def _check_known(plan: Plan, runs: Sequence[EarlierRun], say: Say) -> None:
    known = _count_known(plan, runs)
    if not known:
        raise UserError(
            "There are no earlier conversations of this configuration to score; run it without --rescore."
        )
    if known < plan.trial_count:
        say(
            f"{plan.trial_count - known:,} of {plan.trial_count:,} trials have no earlier conversation; left out."
        )


def _count_known(plan: Plan, runs: Sequence[EarlierRun]) -> int:
    return sum(any(trial.key in run for run in runs) for trial in plan.trials())


def prepare_eval(settings: EvalSettings, say: Say) -> EvalRun:
    """Checks everything that can be checked without asking a model, and composes the run.

    Raises:
        UserError: something is missing, cannot be loaded, or is not as it should be; names it and says what
            to do.
    """
    check_eval(settings)
    assert settings.dataset is not None
    assert settings.model is not None
    task = _task(settings, settings.dataset)
    targets, helpers, keys = _targets(settings, say)
    samples = task.size()
    digest = file_fingerprint(settings.dataset)
    data = DataFile(
        path=str(settings.dataset),
        xxh3=digest,
        samples=samples,
        offset=settings.offset,
        columns=settings.column,
    )
    unchanged = DatasetUnchanged(settings.dataset, digest)
    request = Launch(
        kind="eval",
        name=f"{settings.dataset.stem}-{settings.model.rpartition('/')[2]}",
        plan=Plan(
            task=task,
            samples=samples,
            targets=targets,
            helpers=helpers,
            repeats=settings.n,
            limits=TrialLimits(
                turns=settings.max_turns if _asks_by_itself(settings) else None,
                tokens=settings.trial_tokens,
                seconds=settings.trial_seconds,
            ),
        ),
        settings=settings,
        data=(data,),
        pass_threshold=settings.pass_threshold,
        keys=keys,
        typed_models={"primary": settings.model}
        | ({"baseline": settings.baseline_model} if settings.baseline_model else {}),
        rules=(unchanged,),
        recipe=eval_recipe(settings),
    )
    shelf = EvalShelf(request, settings, _config(settings, request))
    return EvalRun(settings, request, shelf, unchanged)


def _config(settings: EvalSettings, request: Launch) -> dict[str, Any]:
    """The configuration as the cache file shows it; `fingerprint` covers what the other keys do not say."""
    return {
        "model": settings.model,
        "base_url": settings.base_url and settings.base_url.rstrip("/"),
        "baseline_model": settings.baseline_model,
        "baseline_base_url": settings.baseline_base_url and settings.baseline_base_url.rstrip("/"),
        "module": f"mcp:{settings.mcp.resolve()}" if settings.mcp is not None else settings.module,
        "agent_command": settings.agent_command,
        "dataset": str(settings.dataset),
        "eval_fns": sorted(settings.eval_fn) or None,
        "scorers": sorted(settings.scorer) or None,
        "n_runs": settings.n,
        "max_turns": settings.max_turns,
        "pass_threshold": settings.pass_threshold,
        "offset": settings.offset,
        "limit": settings.limit,
        "completion_params": _completion_params(settings) or None,
        "stream": None if settings.stream else False,
        "dataset_fingerprint": request.data[0].xxh3,
        "fingerprint": request.fingerprint,
    }


def _targets(
    settings: EvalSettings, say: Say
) -> tuple[tuple[Target, ...], tuple[Target, ...], dict[str, str | None]]:
    """(targets to try, targets to ask besides, their keys)."""
    assert settings.model is not None
    primary = find_target(settings.model, settings.base_url, "primary", _model_settings(settings))
    targets = [primary]
    keys = {"primary": find_key(_secret(settings.api_key), primary, say)}
    if settings.baseline_model is not None:
        baseline = find_target(
            settings.baseline_model, settings.baseline_base_url, "baseline", _model_settings(settings)
        )
        targets.append(baseline)
        keys["baseline"] = find_key(_secret(settings.baseline_api_key), baseline, say)
    helpers = []
    if "judge" in settings.scorer:
        judge, keys["judge"] = _judge(settings, primary, keys["primary"], say)
        helpers.append(judge)
    for target in (*targets, *helpers):
        check_target(target, keys[target.slot])
    return tuple(targets), tuple(helpers), keys


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None


def _task(settings: EvalSettings, path: Path) -> Task:
    scorers = _scorers(settings)
    rows: dict[str, Any] = {
        "limit": settings.limit,
        "offset": settings.offset,
        "group_by": settings.group_by,
    }
    if settings.mcp is not None:
        from benchwright.agents.mcp.task import McpTask

        turns, params = settings.max_turns, _completion_params(settings)
        return McpTask(settings.mcp, path, scorers, max_turns=turns, completion_params=params, **rows)
    if settings.agent_command is not None:
        from benchwright.agents.command_task import command_task

        return command_task(path, settings.agent_command, scorers, **rows)
    if settings.module is not None:
        from benchwright.agents.agent_task import AgentTask
        from benchwright.agents.callable_task import callable_task
        from benchwright.agents.loading import load_agent, load_object
        from benchwright.agents.rollouts import DEBUG_DIRECTORY

        agent = load_object(settings.module)
        if isroutine(agent):
            return callable_task(path, agent, scorers, module=settings.module, **rows)
        return AgentTask(
            path,
            load_agent(settings.module),
            scorers,
            module=settings.module,
            max_turns=settings.max_turns,
            completion_params=_completion_params(settings),
            debug_dir=DEBUG_DIRECTORY if settings.debug else None,
            **rows,
        )
    return PromptTask(
        path,
        scorers,
        columns=settings.column,
        needs_target=bool(settings.eval_fn) or any(name != "judge" for name in settings.scorer),
        system=settings.system,
        template=_template(settings),
        **rows,
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
    """Body fields of every request. Agents on the rollout types pass temperature and max_tokens on themselves."""
    own = {} if _passes_params_on(settings) else _completion_params(settings)
    return {**own, "seed": settings.seed, **settings.param}


def _passes_params_on(settings: EvalSettings) -> bool:
    return settings.mcp is not None or (settings.module is not None and not _asks_by_itself(settings))


def _asks_by_itself(settings: EvalSettings) -> bool:
    """Whether the agent is a program or a function, which reaches the model through the relay."""
    if settings.agent_command is not None:
        return True
    if settings.module is None:
        return False
    from benchwright.agents.loading import load_object

    return isroutine(load_object(settings.module))


def _judge(settings: EvalSettings, target: Target, key: str | None, say: Say) -> tuple[Target, str | None]:
    """The judge's target; without a model of its own the model under test judges itself, which is said."""
    if settings.judge_model is None:
        say("No --judge-model: the model judges its own answers, so the scores are not comparable.")
        judge = Target("judge", target.model, target.base_url)
        return judge, key
    judge = find_target(settings.judge_model, settings.judge_base_url or settings.base_url, "judge")
    if settings.judge_api_key_env is not None:
        given = os.environ.get(settings.judge_api_key_env)
        if given is None:
            raise UserError(f"--judge-api-key-env names {settings.judge_api_key_env}, which is not set.")
        return judge, find_key(given, judge, say)
    same_host = judge.base_url == target.base_url
    return judge, key if same_host else find_key(None, judge, say)
