"""`create_app`: what a user's `server.py` calls when it is imported. Evaluating an agent needs no server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.agents.rollout.loop import RolloutAgentLoop
from benchwright.errors import UserError

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class RolloutApp:
    """An ASGI application that stands for an agent; an attempt to serve it ends with one plain line."""

    def __init__(self, agent_loop: RolloutAgentLoop) -> None:
        self.agent_loop = agent_loop

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Tells the server that starts it why it cannot be served.

        Raises:
            UserError: the server asked for anything but the start.
        """
        message = (
            f"serving the agent '{self.agent_loop.name}' to a trainer needs the extra `server`, which this "
            "version does not have; `benchwright eval -m MODULE:ATTRIBUTE` evaluates it without a server"
        )
        if scope["type"] != "lifespan":
            raise UserError(message)
        await receive()
        await send({"type": "lifespan.startup.failed", "message": message})


def create_app(agent_loop: RolloutAgentLoop, **options: Any) -> RolloutApp:
    """The application of an agent's server, so that a module that makes one can be imported.

    `options` are those of a server (max_concurrent, record_ttl_seconds, settings, credentials, server_host,
    server_port, api_key, debug_dir, on_startup, on_shutdown); without a server they have no effect.
    """
    return RolloutApp(agent_loop)
