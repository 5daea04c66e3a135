"""The base class of users' agents that osmosis_ai documents, and a placeholder for an agent's server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.types import OpenAIFunctionToolSchema, RolloutRequest
from benchwright.errors import UserError


class RolloutAgentLoop(ABC):
    """Base class of an agent. An agent offers tools, and runs a conversation with a model until it is done.

    A concrete subclass sets `name`. One instance runs many rollouts concurrently, so the state of a rollout
    belongs in `run`, not on the instance.
    """

    name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not _is_abstract(cls) and not getattr(cls, "name", None):
            raise TypeError(f"Agent loop class {cls.__name__} must define a 'name' class attribute")

    @abstractmethod
    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """Return the tools that the model may call in this rollout. Return [] if there are none."""
        raise NotImplementedError

    @abstractmethod
    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Run one rollout, and return the rollout's result.

        Start with `ctx.request.messages`. Return `ctx.complete(...)` or `ctx.error(...)`.
        """
        raise NotImplementedError

    def get_default_tools(self) -> list[OpenAIFunctionToolSchema]:
        """Return the tools for an empty request. They can be listed before any rollout."""
        return self.get_tools(
            RolloutRequest(
                rollout_id="discovery", server_url="http://localhost", messages=[], completion_params={}
            )
        )


def _is_abstract(cls: type) -> bool:
    # `__abstractmethods__` is not yet set while a subclass is being created.
    return any(getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in dir(cls))


Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class RolloutApp:
    """ASGI application that takes the place of an agent's server. Starting it fails with a one-line message."""

    def __init__(self, agent_loop: RolloutAgentLoop) -> None:
        self.agent_loop = agent_loop

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Report to the ASGI server that the agent cannot be served.

        Raises:
            UserError: If the request is anything but the server's start.
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
    """Return an application that takes the place of an agent's server.

    So modules that create a server can be imported, although Benchwright does not serve agents. `options`:
    the options of a server (max_concurrent, record_ttl_seconds, settings, credentials, server_host,
    server_port, api_key, debug_dir, on_startup, on_shutdown). They have no effect.
    """
    return RolloutApp(agent_loop)
