"""`LocalTestRunner`: runs an agent over rows without scores, to check that it works."""

from __future__ import annotations

from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.rollouts import (
    LocalBatchResult,
    LocalLLMClientProtocol,
    LocalRolloutRunner,
    LocalRunResult,
)

DEBUG_DIRECTORY = "./test_debug"

LocalTestRunResult = LocalRunResult
LocalTestBatchResult = LocalBatchResult


class LocalTestRunner(LocalRolloutRunner):
    """A `LocalRolloutRunner` whose rollouts are named `test-<row>`."""

    def __init__(
        self,
        agent_loop: RolloutAgentLoop,
        llm_client: LocalLLMClientProtocol,
        debug: bool = False,
        debug_dir: str | None = None,
    ) -> None:
        super().__init__(
            agent_loop,
            llm_client,
            debug,
            DEBUG_DIRECTORY if debug and debug_dir is None else debug_dir,
            rollout_id_prefix="test",
            request_metadata={"execution_mode": "test", "test_mode": True},
        )
