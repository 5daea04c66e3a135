"""The mark of a simulated server goes through the relay, passed on or translated, also from behind a gateway."""

from __future__ import annotations

from typing import Any

import pytest
from tests.endpoint.http_kit import OpenClient, completion, delta, json_answer, sse_answer
from tests.endpoint.relay.relay_kit import LetIn
from tests.endpoint.relay.test_relay_dialects import (
    NAMES,
    NOT_THERE,
    STREAMED,
    ask,
    dialects,
    streaming,
    ways,
)
from tests.endpoint.scripted_server import ASKED, Serve
from tests.endpoint.test_marks import meter_of

from benchwright.endpoint.simulate import Settings, SimulatedEndpoint
from benchwright.endpoint.simulation_marks import SIMULATED_HEADER, SIMULATED_MARK
from benchwright.records import SIMULATED_FLAG

MARKED = {"id": "chatcmpl-1", "system_fingerprint": SIMULATED_MARK}
"""What a gateway leaves of a simulated answer's marks."""


def address(path: str, *, stream: bool) -> str:
    return STREAMED.get(path, path) if stream else path


@dialects
@ways
@streaming
async def test_it_is_in_the_answer_whatever_its_headers(
    open_client: OpenClient, let_in: LetIn, path: str, chat_only: bool, stream: bool
) -> None:
    async with SimulatedEndpoint(Settings(chat_only=chat_only)) as endpoint:
        agent = let_in(open_client(endpoint.base_url.removesuffix("/v1")))
        answer = await ask(agent, path, stream=stream)
    assert SIMULATED_FLAG in agent.record.flags
    assert meter_of(address(path, stream=stream), answer.body, stream=stream).is_simulated
    assert not stream or SIMULATED_HEADER in dict(answer.headers)


@dialects
@pytest.mark.parametrize(
    ("said", "stream"),
    [
        (json_answer({**MARKED, **completion("Hello")}), False),
        (json_answer({**MARKED, **completion("Hello")}), True),
        (sse_answer({**MARKED, **delta(content="Hello")}, {**MARKED, **delta("stop")}), True),
    ],
    ids=["whole", "a body for a stream", "streamed"],
)
async def test_it_is_taken_from_the_body_where_a_gateway_dropped_the_header(
    serve: Serve, open_client: OpenClient, let_in: LetIn, path: str, said: bytes, stream: bool
) -> None:
    server = await serve([ASKED, NOT_THERE, ASKED, said])
    agent = let_in(open_client(server.url))
    answer = await ask(agent, path, stream=stream)
    assert SIMULATED_FLAG in agent.record.flags
    assert meter_of(address(path, stream=stream), answer.body, stream=stream).is_simulated


@dialects
async def test_an_answer_of_another_server_has_none(
    serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
) -> None:
    other: dict[str, Any] = {"id": "chatcmpl-1", "system_fingerprint": "fp_1", **completion("Hello")}
    server = await serve([ASKED, NOT_THERE, ASKED, json_answer(other)])
    agent = let_in(open_client(server.url))
    answer = await ask(agent, path)
    assert SIMULATED_FLAG not in agent.record.flags
    assert not meter_of(path, answer.body, stream=False).is_simulated
    assert NAMES[path] == agent.record.dialect
