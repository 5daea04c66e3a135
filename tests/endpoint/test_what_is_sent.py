"""Whatever is sent beyond the minimum has a reason in docs/servers.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.endpoint.http_kit import STREAMED_HELLO, OpenClient, ask, json_answer
from tests.endpoint.relay.relay_kit import HI, Agent
from tests.endpoint.scripted_server import ASKED, Request, Serve

from benchwright.endpoint.access import Access
from benchwright.endpoint.dialects import GEMINI, MESSAGES, RESPONSES
from benchwright.endpoint.failures import REQUIRED_FIELDS
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.server_info import list_models, read_metrics

MINIMUM = {"host", "content-length", *REQUIRED_FIELDS}
"""What HTTP and the API's reference require."""

OK = json_answer({})


def explained() -> set[str]:
    """The names in the first columns of the tables of "What is sent", headers in lower case."""
    text = (Path(__file__).parents[2] / "docs" / "servers.md").read_text(encoding="utf-8")
    section = text.partition("## What is sent")[2].partition("\n## ")[0]
    first = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    names = {name.partition(":")[0].lower() for column in first for name in re.findall("`([^`]+)`", column)}
    return names | {"x-api-key", "x-goog-api-key"}


@pytest.fixture
async def requests(serve: Serve, open_client: OpenClient) -> list[Request]:
    """One of each kind of request that there is."""
    streamed, refused = [ASKED, STREAMED_HELLO], [ASKED, json_answer({}, status="404 Not Found")]
    server = await serve(
        [*streamed, *streamed, ASKED, OK, ASKED, json_answer({"count": 1}), *refused * 3, *streamed],
        [ASKED, json_answer({"data": []})],
        [ASKED, OK],
    )
    access = Access("a-key-of-ours")
    client = open_client(server.url, access=access)
    await ask(client)
    await client.ask("/completions", {"prompt": "Hi"})
    await client.fetch_document("/embeddings", b'{"input": "Hi"}')
    await client.count_tokens("Hi")
    for dialect in (MESSAGES, RESPONSES, GEMINI):
        await client.supports_dialect(dialect.path)
    async with Relay() as relay:
        agent = Agent(relay, client)
        asked = {**HI, "max_tokens": 5, "stream": True}
        await agent.ask(asked, "anthropic-version: 2023-06-01", path=f"/v1{MESSAGES.path}")
        await agent.leave()
    await list_models(f"{server.url}/v1", access)
    await read_metrics(f"{server.url}/metrics", access)
    return server.requests


async def test_is_explained(requests: list[Request]) -> None:
    assert len(requests) == 10
    sent = {name for request in requests for name in request.headers}
    sent |= {name for request in requests if request.body for name in request.json}
    assert sent - MINIMUM - explained() == set()


async def test_what_is_explained_is_sent(requests: list[Request]) -> None:
    sent = {
        name for request in requests for name in (*request.headers, *(request.json if request.body else ()))
    }
    of_benchmarks = {"seed", "temperature", "stop", "logprobs", "tools"}
    of_dialects = {"anthropic-version", "anthropic-beta"}
    assert explained() - sent - of_benchmarks - of_dialects == set()
