"""The tools of a FastMCP server for the engine's tool loop. A failing call cannot affect other calls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from benchwright.agents.mcp.loading import MCPLoadError
from benchwright.agents.rollout.tools import serialize_tool_result
from benchwright.engine.error_boundary import describe_error, ends_the_run

if TYPE_CHECKING:
    from fastmcp import Client, FastMCP


class McpToolbox:
    """The tools of a server to which a client is connected. It implements `engine.tool_loop.Toolbox`."""

    def __init__(self, client: Client[Any], tools: Sequence[dict[str, Any]]) -> None:
        self._client = client
        self.tools = tools

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a tool and return its result as text.

        Raises:
            ToolError: If there is no such tool, the arguments are invalid, or the tool raised an error.
        """
        result = await self._client.call_tool(name, arguments)
        return result_text(result.structured_content, result.content)


@asynccontextmanager
async def open_toolbox(server: FastMCP) -> AsyncIterator[McpToolbox]:
    """Connect to a server in this process, through memory streams, and yield the server's tools.

    Raises:
        MCPLoadError: If the server's lifespan fails, or the tools cannot be listed.
    """
    from fastmcp import Client

    ToolFailureMiddleware.add_to(server)
    toolbox = None
    try:
        async with Client(server) as client:
            toolbox = McpToolbox(client, [tool_schema(tool) for tool in await client.list_tools()])
            yield toolbox
    except Exception as error:  # a user's lifespan may raise anything
        if toolbox is not None:
            raise
        raise MCPLoadError(
            f"The MCP server '{server.name}' cannot list its tools: {describe_error(error)}"
        ) from error


def tool_schema(tool: Any) -> dict[str, Any]:
    """Convert a tool, as the server lists it, into the OpenAI format.

    The tool's JSON schema is kept as a whole (items, references, defaults).
    """
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
    """Return a tool's result as text for the model.

    Structured content is preferred. fastmcp wraps values that are not objects as `{"result": x}`; then the
    result is x. Without structured content, the result is all text parts, one per line. It is empty if there
    are no text parts (None, an image).
    """
    if structured is None:
        return "\n".join(part.text for part in content if getattr(part, "text", None) is not None)
    return serialize_tool_result(structured["result"] if structured.keys() == {"result"} else structured)


CallNext = Callable[[Any], Awaitable[Any]]


class ToolFailureMiddleware:
    """Middleware around every tool of a server, inside of all other middleware.

    If a tool calls `sys.exit()` or cancels itself, the session would end, and with it the tool calls of all
    other trials. The middleware turns this into an error of the call. fastmcp 2 runs plain functions on the
    event loop, where a slow function would block all others. The middleware runs them in threads, as later
    versions do.
    """

    def __init__(self, server: FastMCP) -> None:
        self._server = server

    @classmethod
    def add_to(cls, server: FastMCP) -> None:
        """Add the middleware to a server that does not have it yet."""
        if not any(isinstance(middleware, cls) for middleware in server.middleware):
            server.add_middleware(cls(server))

    async def __call__(self, context: Any, call_next: CallNext) -> Any:
        """Process one message to the server (called by fastmcp), and return its result."""
        if context.method != "tools/call":
            return await call_next(context)
        return await _abandonable(self._contained(context, call_next))

    async def _contained(self, context: Any, call_next: CallNext) -> Any:
        try:
            if await self._would_block(context.message.name):
                return await _in_thread(call_next, context)
            return await call_next(context)
        except BaseException as error:  # fastmcp catches only Exception
            if isinstance(error, Exception) or ends_the_run(error):
                raise
            from fastmcp.exceptions import ToolError

            raise ToolError(
                f"Error calling tool '{context.message.name}': {describe_error(error)}"
            ) from error

    async def _would_block(self, name: str) -> bool:
        if not hasattr(self._server, "get_tools"):  # removed in version 3
            return False
        function = getattr((await self._server.get_tools()).get(name), "fn", None)
        return function is not None and not inspect.iscoroutinefunction(function)


async def _abandonable(call: Coroutine[Any, Any, Any]) -> Any:
    """Run a tool call, and return the call's result.

    If this is cancelled, do not wait for the call to end, because a thread may never end.
    """
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
