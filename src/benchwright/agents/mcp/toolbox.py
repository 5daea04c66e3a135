"""The tools of a FastMCP server, as the engine's tool loop wants them, each call contained."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from benchwright.agents.mcp.loading import MCPLoadError
from benchwright.agents.rollout.tools import serialize_tool_result
from benchwright.engine.boundary import describe, ends_the_run

if TYPE_CHECKING:
    from fastmcp import Client, FastMCP


class McpToolbox:
    """The tools behind an open client; see `engine.tool_loop.Toolbox`."""

    def __init__(self, client: Client[Any], tools: Sequence[dict[str, Any]]) -> None:
        self._client = client
        self.tools = tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Runs a tool and returns its result as text.

        Raises:
            ToolError: there is no such tool, the arguments do not fit, or the tool raised.
        """
        result = await self._client.call_tool(name, arguments)
        return result_text(result.structured_content, result.content)


@asynccontextmanager
async def open_toolbox(server: FastMCP) -> AsyncIterator[McpToolbox]:
    """Connects to a server in this process, over memory streams, and lists its tools.

    Raises:
        MCPLoadError: the server's lifespan fails, or the tools cannot be listed.
    """
    from fastmcp import Client

    Containment.add_to(server)
    toolbox = None
    try:
        async with Client(server) as client:
            toolbox = McpToolbox(client, [tool_schema(tool) for tool in await client.list_tools()])
            yield toolbox
    except Exception as error:  # a user's lifespan raises what it likes
        if toolbox is not None:
            raise
        raise MCPLoadError(
            f"The MCP server '{server.name}' cannot list its tools: {describe(error)}"
        ) from error


def tool_schema(tool: Any) -> dict[str, Any]:
    """A listed tool in the OpenAI format, its JSON schema as it stands: items, references, defaults and all."""
    schema = tool.input_schema if hasattr(tool, "input_schema") else tool.inputSchema
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description or f"Tool: {tool.name}",
            "parameters": {"type": "object", "properties": {}, **schema},
        },
    }


def result_text(structured: dict[str, Any] | None, content: Iterable[Any]) -> str:
    """What the model is told of a tool's result.

    Structured content comes first: `{"result": x}`, into which fastmcp wraps what is not an object, counts as x.
    Without it, the parts that are text, one per line; a result without any (None, an image) is empty.
    """
    if structured is None:
        return "\n".join(part.text for part in content if getattr(part, "text", None) is not None)
    return serialize_tool_result(structured["result"] if structured.keys() == {"result"} else structured)


CallNext = Callable[[Any], Awaitable[Any]]


class Containment:
    """A middleware around every tool of a server, the innermost.

    A tool that calls `sys.exit()` or cancels itself would end the session, and with it the tool calls of all
    other trials; here that becomes an error of the call. fastmcp 2 runs plain functions on the event loop,
    where a slow one would hold up everything; here they run in threads, as in later versions.
    """

    def __init__(self, server: FastMCP) -> None:
        self._server = server

    @classmethod
    def add_to(cls, server: FastMCP) -> None:
        """Puts it into a server that does not have it yet."""
        if not any(isinstance(middleware, cls) for middleware in server.middleware):
            server.add_middleware(cls(server))

    async def __call__(self, context: Any, call_next: CallNext) -> Any:
        """Handles one message to the server; called by fastmcp."""
        if context.method != "tools/call":
            return await call_next(context)
        return await _abandonable(self._contained(context, call_next))

    async def _contained(self, context: Any, call_next: CallNext) -> Any:
        try:
            if await self._would_block(context.message.name):
                return await _in_thread(call_next, context)
            return await call_next(context)
        except BaseException as error:  # what is no Exception would go past fastmcp
            if isinstance(error, Exception) or ends_the_run(error):
                raise
            from fastmcp.exceptions import ToolError

            raise ToolError(f"Error calling tool '{context.message.name}': {describe(error)}") from error

    async def _would_block(self, name: str) -> bool:
        if not hasattr(self._server, "get_tools"):  # gone since version 3
            return False
        function = getattr((await self._server.get_tools()).get(name), "fn", None)
        return function is not None and not inspect.iscoroutinefunction(function)


async def _abandonable(call: Coroutine[Any, Any, Any]) -> Any:
    """What a call returns. Where this is cancelled nobody waits for the call to end, which a thread may never do."""
    calling = asyncio.create_task(call)
    try:
        await asyncio.wait({calling})
    except asyncio.CancelledError:
        calling.cancel()
        raise
    return calling.result()


async def _in_thread(call_next: CallNext, context: Any) -> Any:
    from anyio.to_thread import run_sync

    async def call() -> Any:
        return await call_next(context)

    return await run_sync(lambda: asyncio.run(call()))
