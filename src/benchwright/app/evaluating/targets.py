"""Whom an eval asks: the models under test and the judge, with their keys."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from benchwright.app.evaluating.task import asks_by_itself, completion_params
from benchwright.config import EvalSettings
from benchwright.endpoint.providers import check_target, find_key, find_target
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target
from benchwright.text import Say, plain

if TYPE_CHECKING:
    from pydantic import SecretStr


def eval_targets(
    settings: EvalSettings, say: Say
) -> tuple[tuple[Target, ...], tuple[Target, ...], dict[str, str | None]]:
    """(targets to try, targets to ask besides, their keys).

    Raises:
        UserError: an address or a key is missing.
    """
    assert settings.model is not None
    primary = find_target(settings.model, settings.base_url, "primary", _model_settings(settings))
    targets = [primary]
    keys = {"primary": find_key(_secret(settings.api_key), primary, say)}
    check_target(primary, keys["primary"])
    if settings.baseline_model is not None:
        baseline, keys["baseline"] = _baseline(settings, settings.baseline_model, say)
        targets.append(baseline)
    helpers = []
    if "judge" in settings.scorer:
        judge, keys["judge"] = _judge(settings, primary, keys["primary"], say)
        check_target(judge, keys["judge"])
        helpers.append(judge)
    return tuple(targets), tuple(helpers), keys


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None


def _baseline(settings: EvalSettings, model: str, say: Say) -> tuple[Target, str | None]:
    """The baseline's target and key; what is wrong with them is told as the baseline's, with its own options."""

    def told(text: str) -> str:
        return f"Baseline {plain(model)}: {re.sub('--(?=model|api-key|base-url)', '--baseline-', text)}"

    try:
        target = find_target(model, settings.baseline_base_url, "baseline", _model_settings(settings))
        key = find_key(_secret(settings.baseline_api_key), target, lambda text: say(told(text)))
        check_target(target, key)
    except (UserError, ProviderError) as error:
        hint = (
            ""
            if settings.baseline_base_url
            else " If it has an endpoint of its own, give --baseline-base-url."
        )
        raise UserError(f"{told(str(error))}{hint}") from None
    return target, key


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


def _model_settings(settings: EvalSettings) -> dict[str, object]:
    """Body fields of every request. Agents on the rollout types pass temperature and max_tokens on themselves."""
    own = {} if _passes_params_on(settings) else completion_params(settings)
    return {**own, "seed": settings.seed, **settings.param}


def _passes_params_on(settings: EvalSettings) -> bool:
    return settings.mcp is not None or (settings.module is not None and not asks_by_itself(settings))
