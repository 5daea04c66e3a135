"""An agent and an eval function that do next to nothing: what a trial costs with them is not their own."""

from __future__ import annotations

from typing import Any

from osmosis_ai.rollout import (
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutRequest,
    RolloutResult,
)


class Agent(RolloutAgentLoop):
    """Asks once."""

    name = "asks_once"

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        return []

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        answer = await ctx.chat(messages, **ctx.request.completion_params)
        return ctx.complete([*messages, answer.message])


def score(solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None) -> float:
    """1 for the right answer; a plain function, which runs off the event loop."""
    return float(solution_str == ground_truth)
