"""What the tests of the wire and the client share: servers that play scripts, and both event loops."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest
import uvloop
from tests.endpoint.http_kit import OpenClient, OpenWire
from tests.endpoint.scripted_server import Script, ScriptedServer, Serve

from benchwright.endpoint.access import Access
from benchwright.endpoint.address import Proxy, parse_base_url
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.timeouts import Timeouts
from benchwright.endpoint.tls import NO_TLS_FILES, TlsFiles
from benchwright.endpoint.transport import ConnectionPool
from benchwright.records import Target

ASYNCIO = {"asyncio": asyncio.new_event_loop}
BOTH_LOOPS = {**ASYNCIO, "uvloop": uvloop.new_event_loop}


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, Any]:
    """Every test of the wire runs on both event loops: they differ in TLS, in closing and in errors."""
    return BOTH_LOOPS if item.path.name.startswith("test_wire") else ASYNCIO


@pytest.fixture
async def complaints() -> AsyncIterator[list[str]]:
    """What the event loop complains of (a failed callback, an error nobody looked at): to stay empty."""
    heard: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(str(context)))
    yield heard
    await asyncio.sleep(0)
    assert heard == []


@pytest.fixture
async def serve(complaints: list[str]) -> AsyncIterator[Serve]:
    """Starts servers that play scripts; ends them after the test."""
    async with AsyncExitStack() as stack:

        async def start(
            *scripts: Script,
            host: str = "127.0.0.1",
            tls: ssl.SSLContext | None = None,
            secure: bool = False,
            socket: str | None = None,
        ) -> ScriptedServer:
            server = ScriptedServer(*scripts, host=host, tls=tls, secure=secure, socket=socket)
            return await stack.enter_async_context(server)

        yield start


@pytest.fixture
async def open_wire(complaints: list[str]) -> AsyncIterator[OpenWire]:
    """Makes wires to an address; closes them after the test."""
    wires: list[ConnectionPool] = []

    def make(
        url: str,
        connections: int = 1,
        proxy: Proxy | None = None,
        tls: TlsFiles = NO_TLS_FILES,
        **limits: Any,
    ) -> ConnectionPool:
        wire = ConnectionPool(
            parse_base_url(url), connections=connections, limits=Timeouts(**limits), proxy=proxy, tls=tls
        )
        wires.append(wire)
        return wire

    yield make
    for wire in wires:
        wire.close()
    await asyncio.sleep(0)


@pytest.fixture
async def open_client(complaints: list[str]) -> AsyncIterator[OpenClient]:
    """Makes clients of a model `m` that ask again without long waits; closes them after the test."""
    clients: list[EndpointClient] = []

    def make(
        url: str, settings: Mapping[str, Any] | None = None, key: str | None = None, **options: Any
    ) -> EndpointClient:
        options = {"access": Access(key), **options}
        base_url = url if url.startswith("unix:") else f"{url}/v1"
        target = Target("primary", "m", base_url, dict(settings or {}))
        client = EndpointClient(
            target, **{"retry": RetryPolicy(first_delay=0.001, max_delay=0.002), **options}
        )
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()
    await asyncio.sleep(0)
