"""`BenchRunner`: the older name of an evaluation with one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from benchwright.agents.eval_fns import EvalFnWrapper
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.datasets import DatasetRow
from benchwright.agents.runners.evaluation import EvalRunner, Progress
from benchwright.agents.runners.pools import ClientFactory
from benchwright.agents.runners.results import BenchResult
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol


class BenchRunner(EvalRunner):
    """Runs an agent over rows and scores what comes of it; see `EvalRunner`."""

    execution_mode: ClassVar[str] = "bench"

    def __init__(
        self,
        agent_loop: RolloutAgentLoop,
        llm_client: LocalLLMClientProtocol,
        eval_fns: Sequence[EvalFnWrapper],
        debug: bool = False,
        debug_dir: str | None = None,
        llm_client_factory: ClientFactory | None = None,
    ) -> None:
        super().__init__(agent_loop, llm_client, eval_fns, debug, debug_dir, llm_client_factory)

    async def run_bench(
        self,
        rows: Sequence[DatasetRow],
        n_runs: int = 1,
        max_turns: int = 10,
        completion_params: dict[str, Any] | None = None,
        pass_threshold: float = 1.0,
        on_progress: Progress | None = None,
        start_index: int = 0,
        batch_size: int = 1,
    ) -> BenchResult:
        """Runs every row `n_runs` times, `batch_size` runs at a time; see `EvalRunner.run_eval`."""
        return await self.run_eval(
            rows,
            n_runs=n_runs,
            max_turns=max_turns,
            completion_params=completion_params,
            pass_threshold=pass_threshold,
            on_progress=on_progress,
            start_index=start_index,
            batch_size=batch_size,
        )
