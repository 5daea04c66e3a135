"""Settings for scoring answers: scorers, judges, and a baseline to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, SecretStr

from benchwright.access_settings import HeadersEnv, PlainHeaders
from benchwright.config.composed_settings import SettingsSection

JUDGE_SETTING_NAMES = (
    "judge_model",
    "judge_base_url",
    "judge_api_key_env",
    "judge_headers",
    "judge_headers_env",
)
"""Names of the settings that describe the judge of a benchmark. The benchmark's options have the same names."""


def judge_option_text(value: Any) -> str:
    """Return a judge setting as the text of a benchmark option. Headers become one NAME=VALUE per line."""
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    return str(value) if isinstance(value, str) else "\n".join(value)


class JudgeSettings(SettingsSection):
    """The judge model and its endpoint."""

    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_api_key_env: str | None = None
    judge_headers: PlainHeaders = {}
    judge_headers_env: HeadersEnv = {}


class LabelledJudge(JudgeSettings):
    """The judge model, and a file of human labels by which the judge's scores are corrected."""

    judge_labels: Path | None = None
    """File of human labels, used to correct the judge's scores."""


class ScorerSettings(SettingsSection):
    """Names of scorers, and options of the built-in ones."""

    scorer: tuple[str, ...] = ()
    scorer_option: dict[str, str] = {}


class EvalScoring(ScorerSettings):
    """Scorers, eval functions and repeats, and the score from which a trial counts as passed."""

    eval_fn: tuple[str, ...] = ()
    n: int = 1
    pass_threshold: float = 1.0


class TaskScoring(SettingsSection):
    """The number of repeats, and the score from which a trial counts as passed."""

    n: int = Field(default=1, ge=1)
    pass_threshold: float = 1.0


class BaselineSettings(SettingsSection):
    """The baseline (a second model that is run for comparison), and the baseline's endpoint."""

    baseline_model: str | None = None
    baseline_base_url: str | None = None
    baseline_api_key: SecretStr | None = None
    baseline_headers: PlainHeaders = {}
    baseline_headers_env: HeadersEnv = {}
