"""`EvalRunner`: runs an agent over rows with one or two models, and scores the results by eval functions."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any, ClassVar

from benchwright.agents.eval_fns import EvalFnError, EvalFnWrapper
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.datasets import DatasetRow
from benchwright.agents.runners.pools import ClientFactory, runner_pool
from benchwright.agents.runners.results import (
    EvalResult,
    EvalRunResult,
    group_by_row,
    summarise_model,
    summarise_scores,
)
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol, LocalRolloutRunner
from benchwright.agents.runners.row_trials import RowResults, RowTrial, run_rows
from benchwright.records import Message

logger = logging.getLogger(__name__)

PRIMARY, BASELINE = "primary", "baseline"

ProgressCallback = Callable[[int, int, EvalRunResult], None]


class EvalRunner:
    """Runs an agent over rows and scores the results. With two models, the second is a baseline for comparison.

    Up to `batch_size` runs are concurrent, and each needs a client of its own. The client is created by the
    factory, or cloned from an `ExternalLLMClient`.
    """

    execution_mode: ClassVar[str] = "eval"

    def __init__(
        self,
        agent_loop: RolloutAgentLoop,
        llm_client: LocalLLMClientProtocol,
        eval_fns: Sequence[EvalFnWrapper],
        debug: bool = False,
        debug_dir: str | None = None,
        llm_client_factory: ClientFactory | None = None,
        baseline_llm_client: LocalLLMClientProtocol | None = None,
        baseline_llm_client_factory: ClientFactory | None = None,
    ) -> None:
        self.agent_loop = agent_loop
        self.llm_client = llm_client
        self.baseline_llm_client = baseline_llm_client
        self.eval_fns = list(eval_fns)
        self.debug = debug
        self.debug_dir = debug_dir
        self._runners = {PRIMARY: self._runner(llm_client)}
        if baseline_llm_client is not None:
            self._runners[BASELINE] = self._runner(baseline_llm_client)
        self._factories = {PRIMARY: llm_client_factory, BASELINE: baseline_llm_client_factory}

    def _runner(self, client: LocalLLMClientProtocol) -> LocalRolloutRunner:
        mode = self.execution_mode
        metadata = {"execution_mode": mode}
        return LocalRolloutRunner(self.agent_loop, client, self.debug, self.debug_dir, mode, metadata)

    @property
    def has_baseline(self) -> bool:
        """True if there is a second model, as a baseline for comparison."""
        return BASELINE in self._runners

    async def run_single(
        self,
        row: DatasetRow,
        row_index: int,
        run_index: int,
        max_turns: int = 10,
        completion_params: dict[str, Any] | None = None,
        runner: LocalRolloutRunner | None = None,
        model_tag: str | None = None,
    ) -> EvalRunResult:
        """Run the agent once on a row. Return the result, with the scores of all eval functions.

        `runner`: the runner to use. If it is not given, `model_tag` selects the runner of a model.

        Raises:
            SystemicProviderError: If the model cannot be used at all.
        """
        runner = runner or self._runners[model_tag or PRIMARY]
        rollout_id = f"{self.execution_mode}-{row_index}-run-{run_index}"
        tagged = {"model_tag": model_tag} if model_tag == BASELINE else {}
        local = await runner.run_single(
            row,
            row_index,
            max_turns=max_turns,
            completion_params=completion_params,
            rollout_id=f"{rollout_id}-{model_tag}" if model_tag else rollout_id,
            request_metadata={"run_index": run_index, **tagged},
        )
        messages = local.result.final_messages if local.result is not None else None
        scores = {}
        if local.success and messages is not None:
            scores = {
                fn.name: await self._score(fn, messages, row, row_index, run_index) for fn in self.eval_fns
            }
        return EvalRunResult(
            run_index=run_index,
            success=local.success,
            scores=scores,
            duration_ms=local.duration_ms,
            tokens=local.token_usage["total_tokens"],
            error=local.error,
            model_tag=model_tag,
            messages=messages,
            row_index=row_index,
        )

    async def _score(
        self, fn: EvalFnWrapper, messages: list[Message], row: DatasetRow, row_index: int, run_index: int
    ) -> float:
        """Return the score by one eval function. If the function fails, log the error and return 0.0."""
        try:
            score = await fn(messages, row["ground_truth"], row)
            if not math.isfinite(score):
                raise EvalFnError(f"the score is {score}, which cannot be averaged")
            return score
        except (Exception, SystemExit) as error:  # a user's function may raise anything
            logger.warning(
                "Eval function '%s' failed on row %d run %d: %s", fn.name, row_index, run_index, error
            )
            return 0.0

    async def run_eval(
        self,
        rows: Sequence[DatasetRow],
        n_runs: int = 1,
        max_turns: int = 10,
        completion_params: dict[str, Any] | None = None,
        pass_threshold: float = 1.0,
        on_progress: ProgressCallback | None = None,
        start_index: int = 0,
        batch_size: int = 1,
    ) -> EvalResult:
        """Run every row `n_runs` times with every model, and return the results.

        At most `batch_size` runs are concurrent. A run passes if its score is at least `pass_threshold`.
        `on_progress(current, total, result)` is called after each run. Row indexes begin at `start_index`. A
        systemic provider error ends the evaluation early; other failures do not.

        Raises:
            ValueError: If `n_runs` or `batch_size` is not positive.
            UserError: If a client can neither be cloned nor created by a factory.
        """
        if n_runs < 1:
            raise ValueError(f"n_runs must be >= 1, got {n_runs}")

        async def attempt(run: RowTrial[LocalRolloutRunner]) -> EvalRunResult:
            return await self.run_single(
                run.row,
                run.row_index,
                run.run_index,
                max_turns=max_turns,
                completion_params=completion_params,
                runner=run.runner,
                model_tag=run.model_tag,
            )

        async with AsyncExitStack() as stack:
            pools = {
                slot: await stack.enter_async_context(runner_pool(runner, self._factories[slot], batch_size))
                for slot, runner in self._runners.items()
            }
            done = await run_rows(
                rows,
                pools,
                attempt,
                _failed,
                n_runs=n_runs,
                start_index=start_index,
                on_progress=on_progress,
            )
        return self._result(done, n_runs, pass_threshold)

    def _result(self, done: RowResults[EvalRunResult], n_runs: int, pass_threshold: float) -> EvalResult:
        names = [fn.name for fn in self.eval_fns]
        summaries = None
        if self.has_baseline:
            summaries = [
                summarise_model(_name(runner), slot, done.results, names, n_runs, pass_threshold)
                for slot, runner in self._runners.items()
            ]
        primary = [run for run in done.results if run.model_tag in (None, PRIMARY)]
        rows = group_by_row(done.results)
        return EvalResult(
            rows=rows,
            eval_summaries=summarise_scores(primary, names, n_runs, pass_threshold),
            total_rows=len(rows),
            total_runs=len(done.results),
            total_tokens=sum(run.tokens for run in done.results),
            total_duration_ms=done.duration_ms,
            n_runs=n_runs,
            pass_threshold=pass_threshold,
            stopped_early=done.stop_reason is not None,
            stop_reason=done.stop_reason,
            model_summaries=summaries,
        )


def _name(runner: LocalRolloutRunner) -> str:
    """Return the name of a runner's model for summaries: the client's `display_name`, or else the client's class."""
    client = runner.llm_client
    return str(getattr(client, "display_name", type(client).__name__))


def _failed(run: RowTrial[LocalRolloutRunner], error: BaseException) -> EvalRunResult:
    return EvalRunResult(
        run_index=run.run_index,
        success=False,
        duration_ms=getattr(error, "duration_ms", 0.0),
        tokens=getattr(error, "tokens", 0),
        error=str(error) or type(error).__name__,
        model_tag=run.model_tag,
        row_index=run.row_index,
    )
