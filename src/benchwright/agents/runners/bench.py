"""`BenchRunner`: the older runner for evaluations with one model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from benchwright.agents.eval_fns import EvalFnWrapper
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.runners.evaluation import EvalRunner
from benchwright.agents.runners.pools import ClientFactory
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol


class BenchRunner(EvalRunner):
    """Runs an agent over rows with one model, and scores the results. It is an `EvalRunner` with one model."""

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

    run_bench = EvalRunner.run_eval
