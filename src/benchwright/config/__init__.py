"""User settings as Pydantic models, the same for all interfaces (command options, TOML file, Python).

Users write flat settings: every field has the name of its option, with underscores. The option `--batch-size` sets
`concurrency`. The settings of a command are composed of sections, and each function takes the sections that it
needs.
"""

from collections.abc import Mapping
from typing import Any

from benchwright.config.benchmarks import (
    BenchmarkSelection,
    CatalogSettings,
    ContainerSettings,
    LabelFilter,
    PrometheusSettings,
    ResultSettings,
    SelectionSettings,
)
from benchwright.config.command_settings import (
    BenchmarkSettings,
    EvalSettings,
    PackSettings,
    Settings,
    TaskSettings,
)
from benchwright.config.composed_settings import (
    ComposedSettings,
    SettingsSection,
    flat_setting_schemas,
    sections_by_name,
)
from benchwright.config.endpoint import EndpointSettings, ModelEntry, Models
from benchwright.config.evals import EvalRows, OutputSettings, RowSettings, SolverSettings
from benchwright.config.packs import PackProcessSettings, ScenarioSettings
from benchwright.config.run_settings import (
    MAX_AUTO_CONCURRENCY,
    MAX_RUN_NAME_LENGTH,
    DecidingSettings,
    EvalResuming,
    ExecutionSettings,
    LabelSettings,
    LimitSettings,
    PackResuming,
    ResumingSettings,
    check_run_name,
)
from benchwright.config.sampling import (
    PackSampling,
    ReasoningEffort,
    SamplingSettings,
    ThinkingSettings,
    ThinkingStyle,
)
from benchwright.config.scoring import (
    JUDGE_SETTING_NAMES,
    BaselineSettings,
    EvalScoring,
    JudgeSettings,
    LabelledJudge,
    ScorerSettings,
    judge_option_text,
)


def error_message(complaint: Mapping[str, Any]) -> str:
    """Return the message of one validation error (an item of Pydantic's `errors()`), without Pydantic's prefix."""
    return str(complaint["msg"]).removeprefix("Value error, ")


__all__ = [
    "JUDGE_SETTING_NAMES",
    "MAX_AUTO_CONCURRENCY",
    "MAX_RUN_NAME_LENGTH",
    "BaselineSettings",
    "BenchmarkSelection",
    "BenchmarkSettings",
    "CatalogSettings",
    "ComposedSettings",
    "ContainerSettings",
    "DecidingSettings",
    "EndpointSettings",
    "EvalResuming",
    "EvalRows",
    "EvalScoring",
    "EvalSettings",
    "ExecutionSettings",
    "JudgeSettings",
    "LabelFilter",
    "LabelSettings",
    "LabelledJudge",
    "LimitSettings",
    "ModelEntry",
    "Models",
    "OutputSettings",
    "PackProcessSettings",
    "PackResuming",
    "PackSampling",
    "PackSettings",
    "PrometheusSettings",
    "ReasoningEffort",
    "ResultSettings",
    "ResumingSettings",
    "RowSettings",
    "SamplingSettings",
    "ScenarioSettings",
    "ScorerSettings",
    "SelectionSettings",
    "Settings",
    "SettingsSection",
    "SolverSettings",
    "TaskSettings",
    "ThinkingSettings",
    "ThinkingStyle",
    "check_run_name",
    "error_message",
    "flat_setting_schemas",
    "judge_option_text",
    "sections_by_name",
]
