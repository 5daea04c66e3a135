from collections.abc import Sequence
from typing import Literal

from benchwright.analysis.export import LoadedRun as LoadedRun
from benchwright.analysis.export import RequestRow as RequestRow
from benchwright.analysis.export import TrialRow as TrialRow
from benchwright.analysis.export import load_run as load_run
from benchwright.analysis.run_list import RunRow
from benchwright.api.benchmarking import run_benchmark as run_benchmark
from benchwright.api.benchmarking import run_benchmark_async as run_benchmark_async
from benchwright.api.checking import check as check
from benchwright.api.checking import check_async as check_async
from benchwright.api.comparing import compare as compare
from benchwright.api.evaluating import evaluate as evaluate
from benchwright.api.evaluating import evaluate_async as evaluate_async
from benchwright.api.results import BenchmarkRun as BenchmarkRun
from benchwright.api.results import Evaluation as Evaluation
from benchwright.app.benchmark_results import BenchmarkReport as BenchmarkReport
from benchwright.endpoint.card import Card as Card
from benchwright.endpoint.card import Finding as Finding
from benchwright.engine.protocols import Score as Score
from benchwright.engine.protocols import Scorer as Scorer
from benchwright.engine.protocols import Session as Session
from benchwright.engine.protocols import Solver as Solver
from benchwright.engine.protocols import Task as Task
from benchwright.errors import BenchwrightError as BenchwrightError
from benchwright.errors import JournalError as JournalError
from benchwright.errors import ProviderError as ProviderError
from benchwright.errors import RunUnfinished as RunUnfinished
from benchwright.errors import UserError as UserError
from benchwright.records import Outcome as Outcome
from benchwright.records import Sample as Sample
from benchwright.records import Status as Status
from benchwright.records import TaskSpec as TaskSpec
from benchwright.records import Trial as Trial
from benchwright.statistic import NoScore as NoScore
from benchwright.statistic import Statistic as Statistic

__version__: str
__all__: list[str]

def runs(
    *,
    kind: Literal["eval", "benchmark", "pack", "load"] | None = None,
    model: str = "",
    name: str = "",
    state: Literal["running", "finished", "stopped", "unfinished"] | None = None,
    tags: Sequence[str] = (),
    text: str = "",
) -> list[RunRow]: ...
