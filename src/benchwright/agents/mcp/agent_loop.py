"""The agent that osmosis_ai documents for the tools of a FastMCP server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, cast

from pydantic import ConfigDict

from benchwright.agents.mcp.task import TASK_NAME, documented_finish_reason
from benchwright.agents.mcp.toolbox import open_toolbox
from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.agents.rollout.types import (
    OpenAIFunctionParametersSchema,
    OpenAIFunctionSchema,
    OpenAIFunctionToolSchema,
    RolloutRequest,
)
from benchwright.endpoint.reply import Reply
from benchwright.engine.protocols import Session
from benchwright.engine.tool_loop import Toolbox, run_tool_loop
from benchwright.records import Message

if TYPE_CHECKING:
    from fastmcp import FastMCP


class MCPAgentLoop(RolloutAgentLoop):
    """Agent that lets the model call a server's tools until the model answers or has used up `max_turns`.

    Each rollout opens a new connection to the server, within this process. With fastmcp 2, a server's
    lifespan is entered for the first connection only, and exited when that connection ends. So later rollouts
    run without the lifespan. `McpTask` does not have this problem, because it keeps one connection.

    Raises:
        MCPLoadError: If the server does not start.
    """

    name = TASK_NAME

    def __init__(self, mcp_server: FastMCP, agent_name: str = TASK_NAME) -> None:
        self.name = agent_name
        self._server = mcp_server
        # Listing the tools needs a connection and so an event loop; the caller may already be in one.
        with ThreadPoolExecutor(max_workers=1) as thread:
            listed = thread.submit(lambda: asyncio.run(_list_tools(mcp_server))).result()
        self._tools = [McpToolSchema.model_validate(tool) for tool in listed]

    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """Return the server's tools with their complete schemas."""
        return list(self._tools)

    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Run one rollout with the tool loop of the engine."""
        async with open_toolbox(self._server) as toolbox:
            outcome = await run_tool_loop(
                cast(Session, ContextSession(ctx)),
                ctx.request.messages,
                ContextToolbox(ctx, toolbox),
                ctx.request.max_turns,
                **ctx.request.completion_params,
            )
        return ctx.complete(outcome.messages, finish_reason=documented_finish_reason(outcome))


class ContextSession:
    """Adapts a rollout's context to the interface of an engine session that a tool loop uses."""

    def __init__(self, ctx: RolloutContext) -> None:
        self._ctx = ctx

    async def chat(self, messages: Sequence[Message], **params: Any) -> Reply:
        """Send a request to the rollout's model, and return the response."""
        answer = await self._ctx.chat(list(messages), **params)
        return Reply(
            message=answer.message,
            text=answer.content or "",
            tool_calls=answer.tool_calls,
            finish_reason=answer.finish_reason,
        )

    def progress(self, text: str) -> None:
        """Ignore the message, because a rollout shows no progress."""


class ContextToolbox:
    """Wraps a toolbox so that its calls are counted and timed in the metrics of a rollout."""

    def __init__(self, ctx: RolloutContext, toolbox: Toolbox) -> None:
        self._ctx = ctx
        self._toolbox = toolbox
        self.tools = toolbox.tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool and return its result; see `engine.tool_loop.Toolbox`."""
        started = time.monotonic()
        try:
            return await self._toolbox.call(name, arguments)
        finally:
            self._ctx.record_tool_call(latency_ms=(time.monotonic() - started) * 1000)


class McpParametersSchema(OpenAIFunctionParametersSchema):
    """The parameters of a function. Each parameter may have any JSON schema."""

    model_config = ConfigDict(extra="allow")
    properties: dict[str, Any]
    required: list[str] = []


class McpFunctionSchema(OpenAIFunctionSchema):
    """A function whose parameters have complete JSON schemas."""

    parameters: McpParametersSchema


class McpToolSchema(OpenAIFunctionToolSchema):
    """A tool whose parameters have complete JSON schemas."""

    function: McpFunctionSchema


async def _list_tools(server: FastMCP) -> Sequence[dict[str, Any]]:
    async with open_toolbox(server) as toolbox:
        return toolbox.tools
