"""Keeps what one tool call does from the other trials, which share the server's session and the event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from benchwright.engine.boundary import describe, ends_the_run

if TYPE_CHECKING:
    from fastmcp import FastMCP

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


async def _in_thread(call_next: CallNext, context: Any) -> Any:
    from anyio.to_thread import run_sync

    async def call() -> Any:
        return await call_next(context)

    return await run_sync(lambda: asyncio.run(call()))
