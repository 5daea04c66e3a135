"""User settings as Pydantic models, the same for all interfaces (command options, TOML file, Python).

What users write is flat: every field has the name of its option with underscores; `--batch-size` is
`concurrency`. The settings of a command are composed of sections, and each function takes the sections that
it needs.
"""

from collections.abc import Mapping
from typing import Any

from benchwright.config.benchmarks import (
    BenchmarkSelection,
    CatalogSettings,
    ContainerSettings,
    PrometheusSettings,
    ResultSettings,
    SelectionSettings,
    Where,
)
from benchwright.config.composing import ComposedSettings, Section, flat_schema, section_of
from benchwright.config.endpoint import EndpointSettings, ModelEntry, Models
from benchwright.config.evals import EvalRows, OutputSettings, RowSettings, SolverSettings
from benchwright.config.front_doors import (
    BenchmarkSettings,
    EvalSettings,
    PackSettings,
    Settings,
    TaskSettings,
)
from benchwright.config.packs import PackProcessSettings, ScenarioSettings
from benchwright.config.running import (
    LONGEST_NAME,
    MOST_BY_ITSELF,
    DecidingSettings,
    EvalResuming,
    ExecutionSettings,
    LabelSettings,
    LimitSettings,
    PackResuming,
    ResumingSettings,
    one_line_name,
)
from benchwright.config.sampling import (
    Effort,
    PackSampling,
    SamplingSettings,
    ThinkingSettings,
    ThinkingStyle,
)
from benchwright.config.scoring import (
    JUDGE,
    BaselineSettings,
    EvalScoring,
    JudgeSettings,
    LabelledJudge,
    ScorerSettings,
    as_option,
)


def words_of(complaint: Mapping[str, Any]) -> str:
    """Return the message of one validation error (an item of Pydantic's `errors()`), without Pydantic's prefix."""
    return str(complaint["msg"]).removeprefix("Value error, ")


__all__ = [
    "JUDGE",
    "LONGEST_NAME",
    "MOST_BY_ITSELF",
    "BaselineSettings",
    "BenchmarkSelection",
    "BenchmarkSettings",
    "CatalogSettings",
    "ComposedSettings",
    "ContainerSettings",
    "DecidingSettings",
    "Effort",
    "EndpointSettings",
    "EvalResuming",
    "EvalRows",
    "EvalScoring",
    "EvalSettings",
    "ExecutionSettings",
    "JudgeSettings",
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
    "ResultSettings",
    "ResumingSettings",
    "RowSettings",
    "SamplingSettings",
    "ScenarioSettings",
    "ScorerSettings",
    "Section",
    "SelectionSettings",
    "Settings",
    "SolverSettings",
    "TaskSettings",
    "ThinkingSettings",
    "ThinkingStyle",
    "Where",
    "as_option",
    "flat_schema",
    "one_line_name",
    "section_of",
    "words_of",
]
