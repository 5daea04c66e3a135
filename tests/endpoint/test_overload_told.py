"""Who wants to know is told at once when a server is asked for too much, not only when the request has ended."""

from __future__ import annotations

import pytest
from tests.endpoint.http_kit import STREAMED_HELLO, OpenClient, ask, error_answer, refusal_of
from tests.endpoint.scripted_server import ASKED, CLOSE, Script, Serve

from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.timeouts import Timeouts

QUICKLY = RetryPolicy(retries=3, first_delay=0.01)


@pytest.mark.parametrize("status", [408, 429, 503, 504, 529])
async def test_each_refused_attempt_is_told_with_its_number(
    serve: Serve, open_client: OpenClient, status: int
) -> None:
    refusal = error_answer(f"{status} Busy", "no", "Retry-After: 0")
    server = await serve([ASKED, refusal, ASKED, refusal, ASKED, STREAMED_HELLO])
    client = open_client(server.url, retry=QUICKLY)
    told: list[int] = []
    client.on_overload = told.append
    reply = await ask(client)
    assert (reply.text, told) == ("Hello", [1, 2])


async def test_an_answer_that_does_not_come_in_time_is_told(serve: Serve, open_client: OpenClient) -> None:
    server = await serve([ASKED])
    client = open_client(server.url, retry=RetryPolicy(retries=0), limits=Timeouts(read_seconds=0.05))
    told: list[int] = []
    client.on_overload = told.append
    await refusal_of(client)
    assert told == [1]


@pytest.mark.parametrize("script", [[ASKED, error_answer("500 Broken")], [ASKED, CLOSE]])
async def test_other_faults_are_no_such_sign(serve: Serve, open_client: OpenClient, script: Script) -> None:
    server = await serve(script)
    client = open_client(server.url, retry=RetryPolicy(retries=0))
    told: list[int] = []
    client.on_overload = told.append
    await refusal_of(client)
    assert told == []
