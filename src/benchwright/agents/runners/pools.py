"""Creates and closes clients for concurrent runs."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.rollouts import LocalLLMClientProtocol, LocalRolloutRunner
from benchwright.errors import UserError

ClientFactory = Callable[[], LocalLLMClientProtocol]


@asynccontextmanager
async def runner_pool(
    runner: LocalRolloutRunner, factory: ClientFactory | None, size: int
) -> AsyncIterator[list[LocalRolloutRunner]]:
    """Yield `size` runners for concurrent runs, each with a client of its own.

    If the size is 1, yield `runner` itself. Otherwise yield copies of it.

    Raises:
        ValueError: If the size is not positive.
        UserError: If the client can neither be cloned nor created by a factory.
    """
    if size < 1:
        raise ValueError(f"batch_size must be >= 1, got {size}")
    if size == 1:
        yield [runner]
        return
    make = factory or _cloning(runner.llm_client)
    clients = [make() for _ in range(size)]
    try:
        yield [runner.with_client(client) for client in clients]
    finally:
        for client in clients:
            await _close(client)


def _cloning(client: LocalLLMClientProtocol) -> ClientFactory:
    if not isinstance(client, ExternalLLMClient):
        raise UserError(
            f"A {type(client).__name__} serves one run at a time: "
            "for a batch_size above 1, give an llm_client_factory that makes more of them."
        )
    return client.clone


async def _close(client: Any) -> None:
    close = getattr(client, "close", None)
    if close is not None:
        closing = close()
        if inspect.isawaitable(closing):
            await closing
