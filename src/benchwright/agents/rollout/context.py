"""The context of a running agent, and the agent's result."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchwright.agents.rollout.types import (
    CompletionsResult,
    LLMClientProtocol,
    OpenAIFunctionToolSchema,
    RolloutMetrics,
    RolloutRequest,
)
from benchwright.records import Message

logger = logging.getLogger(__name__)


@dataclass
class RolloutResult:
    """The result of a rollout.

    `status`: "COMPLETED" or "ERROR". `reward`: a score that the agent itself gives, or None.
    """

    status: str
    final_messages: list[Message]
    finish_reason: str
    error_message: str | None = None
    metrics: RolloutMetrics | None = None
    reward: float | None = None


@dataclass
class RolloutContext:
    """The argument of `RolloutAgentLoop.run`.

    `request`: the request to the agent. `tools`: the tools offered to the model. `llm`: a client of the
    model.
    """

    request: RolloutRequest
    tools: list[OpenAIFunctionToolSchema]
    llm: LLMClientProtocol
    _start_time: float = field(default=0.0, repr=False)
    _tool_latency_ms: float = field(default=0.0, repr=False)
    _num_tool_calls: int = field(default=0, repr=False)
    _debug_dir: str | None = field(default=None, repr=False)

    async def chat(self, messages: list[Message], **kwargs: Any) -> CompletionsResult:
        """Send the whole conversation so far to the model, and return the model's response.

        `kwargs`: fields of the request's body.
        """
        return await self.llm.chat_completions(messages, **kwargs)

    def complete(
        self, final_messages: list[Message], finish_reason: str = "stop", reward: float | None = None
    ) -> RolloutResult:
        """Return the result of a completed rollout, with the rollout's metrics."""
        return RolloutResult(
            status="COMPLETED",
            final_messages=final_messages,
            finish_reason=finish_reason,
            metrics=self._metrics(),
            reward=reward,
        )

    def error(self, error_message: str, final_messages: list[Message] | None = None) -> RolloutResult:
        """Return the result of a failed rollout, with the rollout's metrics."""
        return RolloutResult(
            status="ERROR",
            final_messages=final_messages or [],
            finish_reason="error",
            error_message=error_message,
            metrics=self._metrics(),
        )

    def record_tool_call(self, latency_ms: float = 0.0) -> None:
        """Count one tool call, and add its time in milliseconds."""
        self._num_tool_calls += 1
        self._tool_latency_ms += latency_ms

    @property
    def debug_enabled(self) -> bool:
        """True if `log_event` writes events."""
        return self._debug_dir is not None

    def log_event(self, event_type: str, **data: Any) -> None:
        """Append one line of JSON to `<debug directory>/<rollout id>.jsonl`, if there is a debug directory.

        If writing fails, this is logged. It does not affect the rollout.
        """
        if self._debug_dir is None:
            return
        event = {"event": event_type, "rollout_id": self.request.rollout_id, **data}
        try:
            directory = Path(self._debug_dir)
            directory.mkdir(parents=True, exist_ok=True)
            with open(directory / f"{self.request.rollout_id}.jsonl", "a", encoding="utf-8") as file:
                file.write(json.dumps(event, default=str) + "\n")
        except OSError as error:
            logger.warning("cannot write the debug events of %s: %s", self.request.rollout_id, error)

    def _metrics(self) -> RolloutMetrics:
        running = time.monotonic() - self._start_time if self._start_time else 0.0
        return self.llm.get_metrics().model_copy(
            update={
                "total_latency_ms": running * 1000,
                "tool_latency_ms": self._tool_latency_ms,
                "num_tool_calls": self._num_tool_calls,
            }
        )
