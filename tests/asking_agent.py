"""A user's agent, as a file: it asks the model once and gives back what it says.

While the file `slow` is beside it, it takes 50 ms more; while `broken` is, it fails on every tenth row.
"""

from __future__ import annotations

AGENT = """
import asyncio
from pathlib import Path

from osmosis_ai.rollout import RolloutAgentLoop, RolloutContext, RolloutResult, create_app


class MyAgentLoop(RolloutAgentLoop):
    name = "asks-once"

    def get_tools(self, request):
        return []

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        if Path("slow").exists():
            await asyncio.sleep(0.05)
        if Path("broken").exists() and ctx.request.metadata["row_index"] % 10 == 0:
            raise ValueError("this agent is broken")
        messages = list(ctx.request.messages)
        messages.append((await ctx.chat(messages, **ctx.request.completion_params)).message)
        return ctx.complete(messages)


agent_loop = MyAgentLoop()
app = create_app(agent_loop)
"""
