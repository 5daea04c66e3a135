"""`LocalRolloutRunner`: runs an agent over rows, one row at a time, and returns the result of each run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from benchwright.agents.rollout.context import RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import LLMClientProtocol, OpenAIFunctionToolSchema
from benchwright.agents.rollout_requests import DEBUG_DIRECTORY, dataset_row_to_request, run_rollout
from benchwright.agents.runners.client import find_systemic_failure
from benchwright.agents.runners.datasets import DatasetRow
from benchwright.agents.runners.row_trials import RowTrial, run_rows
from benchwright.engine.error_boundary import ends_the_run

logger = logging.getLogger(__name__)


class LocalLLMClientProtocol(LLMClientProtocol, Protocol):
    """Interface of a model's client that a runner needs.

    It is the interface that agents use, with the methods `set_tools`, `clear_tools` and `reset_metrics`
    added.
    """

    def set_tools(self, tools: list[OpenAIFunctionToolSchema]) -> None:
        """Offer these tools with every call."""
        ...

    def clear_tools(self) -> None:
        """Stop offering tools."""
        ...

    def reset_metrics(self) -> None:
        """Reset all counts to 0."""
        ...


@dataclass
class LocalRunResult:
    """The result of one row. `success`: True if the agent completed. `error`: the reason if it did not.

    `token_usage`: a mapping with prompt_tokens, completion_tokens, total_tokens and num_llm_calls.
    """

    row_index: int
    success: bool
    result: RolloutResult | None = None
    error: str | None = None
    duration_ms: float = 0.0
    token_usage: dict[str, int] = field(default_factory=dict)


@dataclass
class LocalBatchResult:
    """The results of several rows, in order. `total`: the number of rows that were run."""

    results: list[LocalRunResult]
    total: int
    passed: int
    failed: int
    total_duration_ms: float
    total_tokens: int
    stopped_early: bool = False
    stop_reason: str | None = None


class LocalRolloutRunner:
    """Runs one agent with one client. `request_metadata`: added to the metadata of every request.

    If `debug` is True or a `debug_dir` is given, the agent's events are written to files that are named after
    the rollouts. Otherwise the events are dropped.
    """

    def __init__(
        self,
        agent_loop: RolloutAgentLoop,
        llm_client: LocalLLMClientProtocol,
        debug: bool = False,
        debug_dir: str | None = None,
        rollout_id_prefix: str = "local",
        request_metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.agent_loop = agent_loop
        self.llm_client = llm_client
        self.debug = debug
        self.debug_dir = debug_dir if debug_dir is not None else DEBUG_DIRECTORY if debug else None
        self.rollout_id_prefix = rollout_id_prefix
        self.request_metadata = dict(request_metadata or {})

    def with_client(self, llm_client: LocalLLMClientProtocol) -> LocalRolloutRunner:
        """Return a copy of this runner that uses another client."""
        return LocalRolloutRunner(
            self.agent_loop,
            llm_client,
            self.debug,
            self.debug_dir,
            self.rollout_id_prefix,
            self.request_metadata,
        )

    async def run_single(
        self,
        row: DatasetRow,
        row_index: int,
        max_turns: int = 10,
        completion_params: dict[str, Any] | None = None,
        rollout_id: str | None = None,
        request_metadata: Mapping[str, Any] | None = None,
    ) -> LocalRunResult:
        """Run the agent on one row, and return the result. A failure is part of the result.

        Raises:
            SystemicProviderError: If the model cannot be used at all. The error has the time and tokens of
                this run.
        """
        started = time.monotonic()
        client = self.llm_client
        client.reset_metrics()
        client.clear_tools()
        outcome = LocalRunResult(row_index, success=False)
        failure: BaseException | None = None
        try:
            request = dataset_row_to_request(
                row,
                row_index,
                max_turns=max_turns,
                completion_params=completion_params,
                rollout_id_prefix=self.rollout_id_prefix,
                rollout_id=rollout_id,
                metadata_overrides={**self.request_metadata, **(request_metadata or {})},
            )
            outcome.result = await run_rollout(self.agent_loop, request, client, self.debug_dir)
            outcome.success = outcome.result.status == "COMPLETED"
            outcome.error = None if outcome.success else outcome.result.error_message
        except BaseException as error:
            if ends_the_run(error) and not isinstance(error, Exception):
                raise
            logger.debug("row %d failed", row_index, exc_info=True)
            failure, outcome.error = error, str(error) or type(error).__name__
        finally:
            client.clear_tools()
        outcome.duration_ms = (time.monotonic() - started) * 1000
        outcome.token_usage = _token_usage(client)
        systemic = None if outcome.success else find_systemic_failure(client, failure)
        if systemic is not None:
            systemic.duration_ms = outcome.duration_ms
            systemic.tokens = outcome.token_usage["total_tokens"]
            raise systemic
        return outcome

    async def run_batch(
        self,
        rows: Sequence[DatasetRow],
        max_turns: int = 10,
        completion_params: dict[str, Any] | None = None,
        on_progress: Callable[[int, int, LocalRunResult], None] | None = None,
        start_index: int = 0,
    ) -> LocalBatchResult:
        """Run the agent on rows, one row after the other, and return the results.

        `start_index`: the index of the first row. `on_progress(current, total, result)` is called after each
        row. A systemic provider error ends the batch early; other failures do not.
        """

        async def attempt(run: RowTrial[LocalRolloutRunner]) -> LocalRunResult:
            return await self.run_single(run.row, run.row_index, max_turns, completion_params)

        done = await run_rows(
            rows, {"primary": [self]}, attempt, _failed, start_index=start_index, on_progress=on_progress
        )
        return batch_result(done.results, done.duration_ms, done.stop_reason)


def batch_result(
    results: list[LocalRunResult], duration_ms: float, stop_reason: str | None
) -> LocalBatchResult:
    """Return the results of several rows, with totals over the rows.

    `stop_reason`: why further rows were not run; None if all were run.
    """
    passed = sum(result.success for result in results)
    return LocalBatchResult(
        results=results,
        total=len(results),
        passed=passed,
        failed=len(results) - passed,
        total_duration_ms=duration_ms,
        total_tokens=sum(result.token_usage.get("total_tokens", 0) for result in results),
        stopped_early=stop_reason is not None,
        stop_reason=stop_reason,
    )


def _failed(run: RowTrial[LocalRolloutRunner], error: BaseException) -> LocalRunResult:
    tokens = getattr(error, "tokens", 0)
    return LocalRunResult(
        run.row_index,
        success=False,
        error=str(error) or type(error).__name__,
        duration_ms=getattr(error, "duration_ms", 0.0),
        token_usage={"total_tokens": tokens} if tokens else {},
    )


def _token_usage(client: LocalLLMClientProtocol) -> dict[str, int]:
    metrics = client.get_metrics()
    return {
        "prompt_tokens": metrics.prompt_tokens,
        "completion_tokens": metrics.response_tokens,
        "total_tokens": metrics.prompt_tokens + metrics.response_tokens,
        "num_llm_calls": metrics.num_llm_calls,
    }
