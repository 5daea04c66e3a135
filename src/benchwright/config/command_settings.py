"""Settings of each command that runs something, composed of sections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from benchwright.config.benchmarks import (
    BenchmarkSelection,
    CatalogSettings,
    ContainerSettings,
    PrometheusSettings,
    ResultSettings,
)
from benchwright.config.composed_settings import ComposedSettings
from benchwright.config.endpoint import EndpointSettings
from benchwright.config.evals import EvalRows, OutputSettings, SolverSettings, TaskSolver
from benchwright.config.packs import PackProcessSettings, ScenarioSettings
from benchwright.config.run_settings import (
    BenchmarkResuming,
    DecidingSettings,
    EvalResuming,
    ExecutionSettings,
    LabelSettings,
    LimitSettings,
    PackResuming,
    ParallelExecution,
    ResumingSettings,
)
from benchwright.config.sampling import BenchmarkSampling, PackSampling, SamplingSettings, ThinkingSettings
from benchwright.config.scoring import (
    JUDGE_SETTING_NAMES,
    BaselineSettings,
    EvalScoring,
    LabelledJudge,
    TaskScoring,
    judge_option_text,
)


class Settings(ComposedSettings):
    """Base class of the settings of a command that runs something, with the sections that all of these commands have.

    The sections named in `OPTIONLESS_SECTIONS` have no options in a command.
    """

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset({"thinking", "deciding"})

    label: LabelSettings = LabelSettings()
    endpoint: EndpointSettings = EndpointSettings()
    sampling: SamplingSettings = SamplingSettings()
    thinking: ThinkingSettings = ThinkingSettings()
    limits: LimitSettings = LimitSettings()
    execution: ExecutionSettings = ExecutionSettings()
    resuming: ResumingSettings = ResumingSettings()
    deciding: DecidingSettings = DecidingSettings()


class EvalSettings(Settings):
    """Settings of `benchwright eval`: a dataset, a model or agent, and scorers."""

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset()

    resuming: EvalResuming = EvalResuming()
    rows: EvalRows = EvalRows()
    solver: SolverSettings = SolverSettings()
    scoring: EvalScoring = EvalScoring()
    judge: LabelledJudge = LabelledJudge()
    baseline: BaselineSettings = BaselineSettings()
    outputs: OutputSettings = OutputSettings()


class TaskSettings(Settings):
    """Settings of `benchwright.evaluate` for a `Task` object that the caller passes."""

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset({"deciding"})

    scoring: TaskScoring = TaskScoring()
    solver: TaskSolver = TaskSolver()


class BenchmarkSettings(Settings):
    """Settings of `benchwright run`: benchmarks of the catalog.

    If a setting is None, the value of the benchmark's protocol is used. Judge settings are stored among the
    benchmark's options (`catalog.option`). Only the file of judge labels stays in `judge`.
    """

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset()

    sampling: BenchmarkSampling = BenchmarkSampling()
    execution: ParallelExecution = ParallelExecution()
    resuming: BenchmarkResuming = BenchmarkResuming()
    catalog: CatalogSettings = CatalogSettings()
    selection: BenchmarkSelection = BenchmarkSelection()
    containers: ContainerSettings = ContainerSettings()
    judge: LabelledJudge = LabelledJudge()
    results: ResultSettings = ResultSettings()
    monitoring: PrometheusSettings = PrometheusSettings()

    @classmethod
    def prepare_flat_values(cls, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the flat values with the judge's settings moved into the benchmark's options.

        Raises:
            ValueError: If the benchmark's options name another judge.
        """
        judge = {name: judge_option_text(given[name]) for name in JUDGE_SETTING_NAMES if given.get(name)}
        options = given.get("option") or {}
        for name in judge.keys() & options.keys():
            if judge[name] != options[name]:
                raise ValueError(
                    f"{name} {judge[name]!r} and the option {name}={options[name]} contradict each other: give one"
                )
        rest = {name: value for name, value in given.items() if name not in JUDGE_SETTING_NAMES}
        return {**rest, "option": {**options, **judge}} if judge else rest


class PackSettings(Settings):
    """Settings of `benchwright pack run`: bench packs against models.

    If a setting is None, the pack's own value is used, if there is one.
    """

    if TYPE_CHECKING:  # the flat names are checked when the settings are made

        def __init__(self, **flat: Any) -> None: ...

    OPTIONLESS_SECTIONS: ClassVar[frozenset[str]] = frozenset({"thinking"})

    sampling: PackSampling = PackSampling()
    execution: ParallelExecution = ParallelExecution()
    resuming: PackResuming = PackResuming()
    process: PackProcessSettings = PackProcessSettings()
    scenarios: ScenarioSettings = ScenarioSettings()
