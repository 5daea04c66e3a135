"""The targets of an eval: the models under test and the judge, with the access to each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from benchwright.app.access import role_headers, tls_files
from benchwright.app.evaluating.task import NO_OBJECTS, completion_params, forwards_sampling_params
from benchwright.app.models import ModelsUnderTest, default_line, find_models
from benchwright.app.reasoning_effort import reasoning_settings_for_model
from benchwright.config import (
    BaselineSettings,
    EndpointSettings,
    EvalSettings,
    JudgeSettings,
    Models,
    SamplingSettings,
    ThinkingSettings,
)
from benchwright.endpoint.access import Access
from benchwright.endpoint.credentials import read_key
from benchwright.endpoint.providers import check_target, find_access, find_target
from benchwright.endpoint.reasoning_effort import ReasoningSettings
from benchwright.endpoint.tls import TlsFiles
from benchwright.errors import ProviderError, UserError
from benchwright.records import Target
from benchwright.text import Say, make_safe

if TYPE_CHECKING:
    from pydantic import SecretStr


def eval_targets(
    settings: EvalSettings, say: Say, objects: Mapping[str, Any] = NO_OBJECTS
) -> tuple[ModelsUnderTest, tuple[Target, ...]]:
    """Return the models under test, and the targets of other roles (the judge).

    A baseline is one of the models under test. The field `access` of the models under test also contains the access
    to the judge.

    Raises:
        UserError: If an address or a key is missing.
    """
    endpoint, sampling, baseline_model = (
        settings.endpoint,
        settings.sampling,
        settings.baseline.baseline_model,
    )
    passes_on = forwards_sampling_params(settings.solver, objects)
    _check_reach(settings.thinking, baseline_model, passes_on=passes_on)
    fields = _model_settings(endpoint.models, sampling, passes_on=passes_on)
    models = find_models(endpoint, sampling, settings.thinking, fields, say)
    primary = models.targets[0]
    if baseline_model is not None:
        baseline, models.access["baseline"] = _baseline(
            settings.baseline, baseline_model, fields, tls_files(endpoint), say
        )
        models.display_names["baseline"] = baseline_model
        models = models._replace(targets=(*models.targets, baseline))
    helpers = []
    if "judge" in settings.scoring.scorer:
        judge, models.access["judge"] = _judge(
            settings.judge, endpoint, primary, models.access["primary"], say
        )
        check_target(judge, models.access["judge"])
        helpers.append(judge)
    return models, tuple(helpers)


def _check_reach(thinking: ThinkingSettings, baseline_model: str | None, *, passes_on: bool) -> None:
    if thinking.sends_recommended_settings and passes_on:
        raise UserError(
            "--recommended does not reach this agent, which sends temperature and max_tokens itself: "
            "give --temperature and --max-tokens."
        )
    if baseline_model and (
        thinking.sends_recommended_settings or reasoning_settings_for_model(thinking) != ReasoningSettings()
    ):
        raise UserError(
            "--baseline-model gets neither recommended settings nor options for thinking: compare with --model twice."
        )


def _secret(value: SecretStr | None) -> str | None:
    return value.get_secret_value() if value is not None else None


def _baseline(
    baseline: BaselineSettings, model: str, fields: Mapping[str, object], tls: TlsFiles, say: Say
) -> tuple[Target, Access]:
    """Return the target and access of the baseline, a second model that is run for comparison.

    `fields`: body fields of every request. Error messages use the baseline's own option names.
    """

    def told(text: str) -> str:
        return f"Baseline {make_safe(model)}: {re.sub('--(?=model|api-key|base-url|header)', '--baseline-', text)}"

    try:
        headers = role_headers("--baseline-header", baseline.baseline_headers, baseline.baseline_headers_env)
        given = Access(_secret(baseline.baseline_api_key), headers, tls)
        target = find_target(model, baseline.baseline_base_url, "baseline", fields, given)
        if not baseline.baseline_base_url:
            say(told(default_line(model, target, None)))
        access = find_access(given, target, lambda text: say(told(text)))
        check_target(target, access)
    except (UserError, ProviderError) as error:
        hint = (
            ""
            if baseline.baseline_base_url
            else " If it has an endpoint of its own, give --baseline-base-url."
        )
        raise UserError(f"{told(str(error))}{hint}") from None
    return target, access


def _judge(
    judge: JudgeSettings, endpoint: EndpointSettings, target: Target, access: Access, say: Say
) -> tuple[Target, Access]:
    """Return the target and access of the judge.

    If no judge model is given, print a warning and let the model under test judge itself.
    """
    if judge.judge_model is None:
        answers = (
            "its own answers" if len(endpoint.models_under_test) == 1 else "all answers, its own included"
        )
        who = (
            "the model"
            if len(endpoint.models_under_test) == 1
            else make_safe(endpoint.models_under_test[0].title)
        )
        say(f"No --judge-model: {who} judges {answers}, so the scores are not comparable.")
        return Target("judge", target.model, target.base_url, headers=target.headers), access
    key = None
    if judge.judge_api_key_env is not None:
        key = read_key(judge.judge_api_key_env, "--judge-api-key-env")
    headers = role_headers("--judge-header", judge.judge_headers, judge.judge_headers_env)
    own = Access(key, headers, tls_files(endpoint))
    base_url = judge.judge_base_url or endpoint.base_url
    found = find_target(judge.judge_model, base_url, "judge", access=own)
    if found.base_url == target.base_url:
        own = own.with_defaults(access)
        found = replace(found, headers=own.plain_headers)
    return found, find_access(own, found, say)


def _model_settings(models: Models, sampling: SamplingSettings, *, passes_on: bool) -> dict[str, object]:
    """Return the body fields of every request.

    `passes_on`: True if the agent itself sends temperature and max_tokens. Both are then left out.
    """
    for entry in models if passes_on else ():
        if entry.temperature is not None or entry.max_tokens is not None:
            raise UserError(
                f"Model {make_safe(entry.title)!r}: an agent gets the same temperature and max_tokens with every "
                "model; "
                "use `param` for a model's own."
            )
    own = {} if passes_on else completion_params(sampling)
    return {**own, "seed": sampling.seed, **sampling.param}
