"""Answers of a simulated server are known as such by what is in them, in every dialect: gateways drop its header."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from base64 import b64encode
from typing import Any

import pytest

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.dialects import DIALECTS
from benchwright.endpoint.meter import AnswerMeter
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint
from benchwright.endpoint.simulation_marks import SIMULATED_MARK, is_simulated
from benchwright.records import SIMULATED_FLAG, Target

CHAT = {"messages": [{"role": "user", "content": "Hi"}]}
GEMINI = "/models/m:generateContent"
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": CHAT,
    "/v1/completions": {"prompt": "Hi"},
    "/v1/messages": {**CHAT, "max_tokens": 9},
    "/v1/responses": {"input": "Hi"},
    f"/v1beta{GEMINI}": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
}
STREAMS = {f"/v1beta{GEMINI}": "/v1beta/models/m:streamGenerateContent?alt=sse"}


async def body_of(url: str, asked: dict[str, Any], **headers: str) -> bytes:
    """The body of an answer."""
    headers = {"Content-Type": "application/json", **headers}
    request = urllib.request.Request(url, json.dumps(asked).encode(), headers)

    def read() -> bytes:
        with urllib.request.urlopen(request) as answer:
            return bytes(answer.read())

    return await asyncio.to_thread(read)


def meter_of(path: str, body: bytes, *, stream: bool) -> AnswerMeter:
    """The meter after a body that comes without any header but that of its kind."""
    name = next((name for name in DIALECTS if path.split("?")[0].endswith(name)), None)
    meter = AnswerMeter(None if name is None else DIALECTS[name].make_reader())
    meter.receive_head(200, [(b"content-type", b"text/event-stream" if stream else b"application/json")], 50)
    meter.receive_data(body, 100)
    meter.finish_reply()
    return meter


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("path", ASKED)
async def test_every_dialect_has_a_mark_in_its_answers(path: str, stream: bool) -> None:
    async with SimulatedEndpoint(Settings()) as endpoint:
        url = endpoint.base_url.removesuffix("/v1") + (STREAMS.get(path, path) if stream else path)
        asked = ASKED[path] if "models" in path else {"model": "m", "stream": stream, **ASKED[path]}
        body = await body_of(url, asked)
    assert meter_of(STREAMS.get(path, path) if stream else path, body, stream=stream).is_simulated


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_a_request_to_a_simulated_server_is_flagged_once(stream: bool) -> None:
    async with (
        SimulatedEndpoint(Settings()) as endpoint,
        EndpointClient(Target("primary", "m", endpoint.base_url), stream=stream) as client,
    ):
        reply = await client.ask("/chat/completions", CHAT)
    assert reply.record.flags == [SIMULATED_FLAG]


@pytest.mark.parametrize(
    "answer",
    [
        {"system_fingerprint": SIMULATED_MARK},
        {"id": f"chatcmpl-{SIMULATED_MARK}-0-1"},
        {
            "id": f"resp_{b64encode(f'litellm:model_id:1;response_id:resp_{SIMULATED_MARK}-0'.encode()).decode()}"
        },
    ],
)
def test_a_mark_is_in_the_fingerprint_or_the_id(answer: dict[str, Any]) -> None:
    assert is_simulated(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"id": 5, "system_fingerprint": None},
        {"id": "resp_%%%"},
        {"id": "resp_"},
        {"model": SIMULATED_MARK},
    ],
)
def test_other_answers_have_none(answer: dict[str, Any]) -> None:
    assert not is_simulated(answer)


def test_a_gateway_may_pass_the_header_on_under_another_name() -> None:
    meter = AnswerMeter()
    meter.receive_head(200, [(b"llm_provider-x-benchwright-simulated", b"1")], 50)
    assert meter.is_simulated
