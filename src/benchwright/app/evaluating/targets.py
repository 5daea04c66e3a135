"""The targets of an eval: the models under test and the judge, with the access to each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.app.access import tls_files, typed_headers
from benchwright.app.evaluating.task import NOTHING, completion_params, passes_params_on
from benchwright.app.models import ModelsUnderTest, find_models
from benchwright.app.thinking import wanted_thinking
from benchwright.config import EvalSettings
from benchwright.endpoint.access import Access
from benchwright.endpoint.credentials import read_key
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.endpoint.thinking import Thinking
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target
from benchwright.text import Say, plain

if TYPE_CHECKING:
    from pydantic import SecretStr


def eval_targets(
    settings: EvalSettings, say: Say, objects: Mapping[str, Any] = NOTHING
) -> tuple[ModelsUnderTest, tuple[Target, ...]]:
    """Return the models under test, and the other targets. The models' `access` includes the other targets.

    Raises:
        UserError: If an address or a key is missing.
    """
    _check_reach(settings, objects)
    models = find_models(settings, _model_settings(settings, objects), say)
    primary = models.targets[0]
    if settings.baseline_model is not None:
        baseline, models.access["baseline"] = _baseline(settings, settings.baseline_model, say, objects)
        models.names["baseline"] = settings.baseline_model
        models = models._replace(targets=(*models.targets, baseline))
    helpers = []
    if "judge" in settings.scorer:
        judge, models.access["judge"] = _judge(settings, primary, models.access["primary"], say)
        check_target(judge, models.access["judge"])
        helpers.append(judge)
    return models, tuple(helpers)


def _check_reach(settings: EvalSettings, objects: Mapping[str, Any]) -> None:
    recommended = settings.recommended or settings.recommended_file is not None
    if recommended and passes_params_on(settings, objects):
        raise UserError(
            "--recommended does not reach this agent, which sends temperature and max_tokens itself: "
            "give --temperature and --max-tokens."
        )
    if settings.baseline_model and (recommended or wanted_thinking(settings) != Thinking()):
        raise UserError(
            "--baseline-model gets neither recommended settings nor options for thinking: compare with --model twice."
        )


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None


def _baseline(
    settings: EvalSettings, model: str, say: Say, objects: Mapping[str, Any]
) -> tuple[Target, Access]:
    """Return the baseline's target and access.

    Errors are reported for the baseline, with its own option names.
    """

    def told(text: str) -> str:
        return (
            f"Baseline {plain(model)}: {re.sub('--(?=model|api-key|base-url|header)', '--baseline-', text)}"
        )

    try:
        headers = typed_headers("--baseline-header", settings.baseline_headers, settings.baseline_headers_env)
        given = Access(_secret(settings.baseline_api_key), headers, tls_files(settings))
        fields = _model_settings(settings, objects)
        target = find_target(model, settings.baseline_base_url, "baseline", fields, given)
        access = find_access(given, target, lambda text: say(told(text)))
        check_target(target, access)
    except (UserError, ProviderError) as error:
        hint = (
            ""
            if settings.baseline_base_url
            else " If it has an endpoint of its own, give --baseline-base-url."
        )
        raise UserError(f"{told(str(error))}{hint}") from None
    return target, access


def _judge(settings: EvalSettings, target: Target, access: Access, say: Say) -> tuple[Target, Access]:
    """Return the judge's target and access.

    Without a judge model, the model under test judges itself, with a warning.
    """
    if settings.judge_model is None:
        answers = "its own answers" if len(settings.tried) == 1 else "all answers, its own included"
        who = "the model" if len(settings.tried) == 1 else plain(settings.tried[0].title)
        say(f"No --judge-model: {who} judges {answers}, so the scores are not comparable.")
        judge = Target("judge", target.model, target.base_url, headers=target.headers)
        return judge, access
    key = None
    if settings.judge_api_key_env is not None:
        key = read_key(settings.judge_api_key_env, "--judge-api-key-env")
    headers = typed_headers("--judge-header", settings.judge_headers, settings.judge_headers_env)
    own = Access(key, headers, tls_files(settings))
    base_url = settings.judge_base_url or settings.base_url
    judge = find_target(settings.judge_model, base_url, "judge", access=own)
    if judge.base_url == target.base_url:
        own = own.beside(access)
        judge = replace(judge, headers=own.plain_headers)
    return judge, find_access(own, judge, say)


def _model_settings(settings: EvalSettings, objects: Mapping[str, Any]) -> dict[str, object]:
    """Return the body fields of every request.

    Agents on the rollout types pass temperature and max_tokens themselves.
    """
    passes_on = passes_params_on(settings, objects)
    for entry in settings.models if passes_on else ():
        if entry.temperature is not None or entry.max_tokens is not None:
            raise UserError(
                f"Model {plain(entry.title)!r}: an agent gets the same temperature and max_tokens with every model; "
                "use `param` for a model's own."
            )
    own = {} if passes_on else completion_params(settings)
    return {**own, "seed": settings.seed, **settings.param}
