"""The wire over a Unix socket."""

from __future__ import annotations

import socket as sockets
import tempfile
from collections.abc import Iterator

import pytest
from tests.endpoint.http_kit import (
    HELLO,
    STREAMED_HELLO,
    OpenClient,
    OpenWire,
    ask,
    failure_of,
    json_answer,
    send,
)
from tests.endpoint.scripted_server import ASKED, CLOSE, Serve, until

from benchwright.endpoint.access import ANONYMOUS_ACCESS
from benchwright.endpoint.server_info import list_models, read_metrics


@pytest.fixture
def socket() -> Iterator[str]:
    """A path that is short enough, however deep the folders of tests lie."""
    with tempfile.TemporaryDirectory(prefix="llm") as directory:
        yield f"{directory}/llm.sock"


async def test_keeps_its_connection(serve: Serve, open_wire: OpenWire, socket: str) -> None:
    server = await serve([ASKED, HELLO, ASKED, HELLO], socket=socket)
    wire = open_wire(server.url)
    assert [(await send(wire)).status for _ in range(2)] == [200, 200]
    assert server.connections == 1


async def test_a_closed_connection_is_replaced(serve: Serve, open_wire: OpenWire, socket: str) -> None:
    server = await serve([ASKED, HELLO, CLOSE], [ASKED, HELLO], socket=socket)
    wire = open_wire(server.url)
    await send(wire)
    await until(lambda: server.open == 0)
    assert (await send(wire)).status == 200


async def test_a_client_asks_below_v1_and_names_the_host_localhost(
    serve: Serve, open_client: OpenClient, socket: str
) -> None:
    server = await serve([ASKED, STREAMED_HELLO], socket=socket)
    client = open_client(server.url)
    assert (await ask(client)).text == "Hello"
    (request,) = server.requests
    assert request.line == "POST /v1/chat/completions HTTP/1.1"
    assert request.headers["host"] == "localhost"


async def test_models_and_metrics_are_read(serve: Serve, socket: str) -> None:
    server = await serve([ASKED, json_answer({"data": [{"id": "m"}]})], [ASKED, HELLO], socket=socket)
    assert await list_models(server.url, ANONYMOUS_ACCESS) == ["m"]
    await read_metrics(f"{server.url}:/metrics")
    assert [request.line for request in server.requests] == [
        "GET /v1/models HTTP/1.1",
        "GET /metrics HTTP/1.1",
    ]


async def test_a_socket_that_is_not_there_is_told(open_wire: OpenWire, socket: str) -> None:
    error = await failure_of(open_wire(f"unix://{socket}"))
    assert (error.kind, str(error)) == ("connect", "No such file or directory")


async def test_a_socket_that_nobody_listens_at_is_told(open_wire: OpenWire, socket: str) -> None:
    with sockets.socket(sockets.AF_UNIX) as left:
        left.bind(socket)
    error = await failure_of(open_wire(f"unix://{socket}"))
    assert (error.kind, str(error)) == ("connect", "Connection refused")
