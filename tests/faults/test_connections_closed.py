"""Servers that close kept-alive connections: what they were asked is what the journal says that they were."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from tests.endpoint.http_kit import HELLO, ask
from tests.endpoint.scripted_server import AGAIN, ASKED, CLOSE, RESET, Script, ScriptedServer

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.failures import RetryPolicy
from benchwright.errors import ProviderError
from benchwright.records import RequestRecord, Target

REQUESTS = 60
SEVERAL: Script = [ASKED, HELLO, ASKED, HELLO, ASKED, HELLO, ASKED, CLOSE]
CLOSING: dict[str, list[Script]] = {
    "after each answer": [[ASKED, HELLO, CLOSE]],
    "in mid-use": [[ASKED, HELLO, ASKED, CLOSE]],
    "in mid-use by a reset": [[ASKED, HELLO, ASKED, 0.001, RESET]],
    "after several answers": [SEVERAL, [ASKED, HELLO, AGAIN]],
    "always before an answer": [[ASKED, HELLO, ASKED, CLOSE], [ASKED, CLOSE]],
}


@pytest.mark.parametrize("scripts", CLOSING.values(), ids=CLOSING)
async def test_the_server_and_the_records_count_the_same(scripts: list[Script]) -> None:
    records: list[RequestRecord] = []
    async with ScriptedServer(*scripts) as server:
        client = EndpointClient(
            Target("primary", "m", f"{server.url}/v1"),
            connections=3,
            retry=RetryPolicy(retries=2, first_delay=0.001),
        )

        async def one() -> None:
            with suppress(ProviderError):
                await client.ask("/chat/completions", {}, note=records.append)

        for _ in range(REQUESTS // 3):
            await asyncio.gather(one(), one(), one())
        client.close()
        assert len(records) == REQUESTS
        assert sum(record.attempts for record in records) == len(server.requests)


async def test_one_that_was_sent_again_is_not_a_failed_attempt() -> None:
    async with (
        ScriptedServer([ASKED, HELLO, ASKED, CLOSE], [ASKED, HELLO]) as server,
        EndpointClient(
            Target("primary", "m", f"{server.url}/v1"), connections=1, retry=RetryPolicy(retries=0)
        ) as client,
    ):
        await ask(client)
        record = (await ask(client)).record
    assert (record.attempts, record.error) == (2, None)
