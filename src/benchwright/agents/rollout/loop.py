"""The documented base class of a user's agent, and the server that would run it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.types import OpenAIFunctionToolSchema, RolloutRequest
from benchwright.errors import UserError


class RolloutAgentLoop(ABC):
    """An agent: it says which tools it has, and runs a conversation with a model until it is done.

    A concrete subclass sets `name`. One instance runs many rollouts at the same time, so that what belongs
    to a single rollout lives in `run`, not on the instance.
    """

    name: str

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not _is_abstract(cls) and not getattr(cls, "name", None):
            raise TypeError(f"Agent loop class {cls.__name__} must define a 'name' class attribute")

    @abstractmethod
    def get_tools(self, request: RolloutRequest) -> list[OpenAIFunctionToolSchema]:
        """The tools that the model may call in this rollout; empty for none."""
        raise NotImplementedError

    @abstractmethod
    async def run(self, ctx: RolloutContext) -> RolloutResult:
        """Runs one rollout: starts with `ctx.request.messages`, ends with `ctx.complete` or `ctx.error`."""
        raise NotImplementedError

    def get_default_tools(self) -> list[OpenAIFunctionToolSchema]:
        """The tools for a request that says nothing: what can be known of them before a rollout."""
        return self.get_tools(
            RolloutRequest(
                rollout_id="discovery", server_url="http://localhost", messages=[], completion_params={}
            )
        )


def _is_abstract(cls: type) -> bool:
    # `__abstractmethods__` is not yet set while a subclass is being made.
    return any(getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in dir(cls))


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
