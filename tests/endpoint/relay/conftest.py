"""What the tests of the relay share: a relay, and agents that were let in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
import uvloop
from tests.endpoint.relay.relay_kit import Agent, LetIn

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, Any]:
    """Every test of the relay runs on both event loops: they write and pause in different ways."""
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}


@pytest.fixture
async def relay(complaints: list[str]) -> AsyncIterator[Relay]:
    async with Relay() as relay:
        yield relay


@pytest.fixture
async def let_in(relay: Relay) -> AsyncIterator[LetIn]:
    """Opens the relay to an agent that asks through a client; closes it after the test."""
    async with AsyncExitStack() as stack:

        def open_to(client: EndpointClient, turns: int | None = None) -> Agent:
            agent = Agent(relay, client, turns)
            stack.push_async_callback(agent.leave)
            return agent

        yield open_to
