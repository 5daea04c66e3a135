"""The agent: asks the model, runs the tools that the model calls, and repeats this until the model answers in words."""

from __future__ import annotations

from tools import CONVERT, run_tool

from osmosis_ai.rollout import (
    OpenAIFunctionToolSchema,
    RolloutAgentLoop,
    RolloutContext,
    RolloutRequest,
    RolloutResult,
    execute_tool_calls,
)


class UnitAgent(RolloutAgentLoop):
    name = "units"

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        return [CONVERT]

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        messages = list(ctx.request.messages)
        for _ in range(ctx.request.max_turns):
            answer = await ctx.chat(messages, **ctx.request.completion_params)
            messages.append(answer.message)
            if not answer.has_tool_calls:
                return ctx.complete(messages, finish_reason=answer.finish_reason)
            messages += await execute_tool_calls(answer.tool_calls, run_tool)
        return ctx.complete(messages, finish_reason="max_turns")
