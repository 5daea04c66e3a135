"""The containers of a run: one connection to the engine, opened before the first model call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchwright.engine.current import current_run
from benchwright.sandbox.docker import DockerSandboxes, Engine, connected, remove_leftovers


class Containers:
    """The engine of a run, and the sandboxes that are started on it."""

    def __init__(self, engine: Engine, run_id: str, at_once: int) -> None:
        self.engine = engine
        self.run_id = run_id
        self.sandboxes = DockerSandboxes(engine, run_id, at_once=at_once)


@asynccontextmanager
async def containers(at_once: int) -> AsyncIterator[Containers]:
    """Connects to the engine, and removes what dead processes of this user left there.

    Raises:
        EngineUnavailable: there is no engine that can be used; says how to get one.
    """
    async with connected() as engine:
        await remove_leftovers(engine)
        yield Containers(engine, current_run(), at_once)
