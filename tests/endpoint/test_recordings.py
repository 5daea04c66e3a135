"""What the client makes of the bytes that real servers sent, cut in every way a network may cut them.

`tests/recordings` holds the bytes, and what the OpenAI SDK, h11 and httpx-sse read from them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.connection import Connection, Headers
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.meter import AnswerMeter
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.sse import EventStream
from benchwright.errors import ProviderError
from benchwright.records import Target

RECORDINGS = Path(__file__).parents[1] / "recordings"


@dataclass(frozen=True)
class Exchange:
    """One request, the answer's bytes, and what other parsers read from them."""

    name: str
    request: dict[str, Any]
    answer: bytes
    expected: dict[str, Any]

    @property
    def is_completion(self) -> bool:
        return "finish_reason" in self.expected


def read_recording(file: Path) -> list[Exchange]:
    """The exchanges of one connection, in order."""
    received, start, found = file.with_suffix(".http").read_bytes(), 0, []
    for facts in json.loads(file.read_text(encoding="utf-8"))["exchanges"]:
        end = start + facts["expected"]["size"]
        name = f"{file.parent.name}/{file.stem}"
        found.append(Exchange(name, facts["request"], received[start:end], facts["expected"]))
        start = end
    assert start == len(received)
    return found


FILES = sorted(RECORDINGS.glob("*/*.json"))
CONNECTIONS = {exchanges[0].name: exchanges for exchanges in map(read_recording, FILES)}
SINGLE = {name: exchanges[0] for name, exchanges in CONNECTIONS.items() if len(exchanges) == 1}
COMPLETIONS = [exchange for exchange in SINGLE.values() if exchange.is_completion]
OTHERS = [exchange for exchange in SINGLE.values() if not exchange.is_completion]


def by_name(exchange: Exchange) -> str:
    return exchange.name


class NoNetwork(asyncio.Transport):
    """Takes what is written and sends it nowhere."""

    def write(self, data: object) -> None:
        pass

    def abort(self) -> None:
        pass


class WholeBody:
    """A sink that keeps everything."""

    def __init__(self) -> None:
        self.status = 0
        self.body = b""

    def receive_head(self, status: int, headers: Headers, at: int) -> None:
        self.status = status

    def receive_data(self, chunk: bytes, at: int) -> None:
        self.body += chunk


def open_connection() -> Connection:
    connection = Connection(asyncio.get_running_loop())
    connection.connection_made(NoNetwork())
    return connection


def deliver(connection: Connection, pieces: Iterable[bytes], sink: Any) -> None:
    """One exchange on a connection whose answer arrives in these pieces."""
    exchange = connection.start_exchange(b"", sink)
    for piece in pieces:
        connection.data_received(piece)
    exchange.done.result()


def reply_to(pieces: Iterable[bytes]) -> tuple[Reply, AnswerMeter]:
    meter = AnswerMeter()
    deliver(open_connection(), pieces, meter)
    return meter.finish_reply(), meter


def single_bytes(answer: bytes) -> Iterator[bytes]:
    return (answer[position : position + 1] for position in range(len(answer)))


def compared(reply: Reply, meter: AnswerMeter) -> dict[str, Any]:
    """The fields that the other parsers read as well, under the recording's names."""
    logprobs = reply.logprobs or {}
    tokens = [item["token"] for item in logprobs.get("content") or []] or logprobs.get("tokens")
    fields = {
        "status": meter.status,
        "text": reply.text,
        "reasoning": reply.reasoning,
        "tool_calls": [{"id": call["id"], **call["function"]} for call in reply.tool_calls],
        "finish_reason": reply.finish_reason,
        "usage": {
            "prompt_tokens": reply.usage.prompt_tokens,
            "completion_tokens": reply.usage.completion_tokens,
        },
        "logprob_tokens": tokens,
    }
    return (
        {**fields, "chunks": meter.chunks, "done": "no_done" not in meter.flags} if meter.streamed else fields
    )


def expected_of(exchange: Exchange) -> dict[str, Any]:
    """What the other parsers read; they leave inline reasoning in the text, we take it out."""
    expected = {key: value for key, value in exchange.expected.items() if key not in ("size", "events")}
    inline = re.fullmatch(r"<think>(.*)</think>\s*(.*)", expected["text"], re.DOTALL)
    if inline:
        expected["reasoning"], expected["text"] = inline.groups()
    return expected


@pytest.mark.parametrize("exchange", COMPLETIONS, ids=by_name)
async def test_an_answer_reads_as_other_parsers_read_it(exchange: Exchange) -> None:
    assert compared(*reply_to([exchange.answer])) == expected_of(exchange)


@pytest.mark.parametrize("exchange", COMPLETIONS, ids=by_name)
async def test_a_cut_anywhere_changes_nothing(exchange: Exchange) -> None:
    answer = exchange.answer
    whole, meter = reply_to([answer])
    for cut in range(1, len(answer)):
        reply, cut_meter = reply_to([answer[:cut], answer[cut:]])
        assert reply == whole, f"cut after {answer[:cut][-30:]!r}"
        assert (cut_meter.chunks, cut_meter.flags) == (meter.chunks, meter.flags)


@pytest.mark.parametrize("exchange", COMPLETIONS, ids=by_name)
async def test_single_bytes_change_nothing(exchange: Exchange) -> None:
    assert compared(*reply_to(single_bytes(exchange.answer))) == expected_of(exchange)


@given(data=st.data())
@settings(max_examples=300, deadline=None)
async def test_any_pieces_change_nothing(data: st.DataObject) -> None:
    exchange = data.draw(st.sampled_from(COMPLETIONS))
    answer = exchange.answer
    cuts = sorted(data.draw(st.sets(st.integers(1, len(answer) - 1), max_size=60)))
    pieces = [answer[start:end] for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True)]
    assert compared(*reply_to(pieces)) == expected_of(exchange)


def body_of(pieces: Iterable[bytes]) -> tuple[int, bytes]:
    sink = WholeBody()
    deliver(open_connection(), pieces, sink)
    return sink.status, sink.body


@pytest.mark.parametrize("exchange", OTHERS, ids=by_name)
async def test_errors_and_listings_arrive_as_sent(exchange: Exchange) -> None:
    answer, expected = exchange.answer, exchange.expected
    status, body = body_of([answer])
    assert status == expected["status"]
    if "data" in expected:
        assert [event.decode() for event in EventStream().feed(body)] == expected["data"]
    else:
        assert body.decode() == expected["body"]
    assert body_of(single_bytes(answer)) == (status, body)
    for cut in range(1, len(answer)):
        assert body_of([answer[:cut], answer[cut:]]) == (status, body)


@pytest.mark.parametrize("server", ["litellm", "llama_cpp", "transformers"])
async def test_answers_follow_each_other_on_one_connection(server: str) -> None:
    connection = open_connection()
    for exchange in CONNECTIONS[f"{server}/keep_alive"]:
        meter = AnswerMeter()
        deliver(connection, single_bytes(exchange.answer), meter)
        assert compared(meter.finish_reply(), meter) == expected_of(exchange)
    assert connection.open


class Replayer(asyncio.Protocol):
    """The server's side of a connection: every request gets the next recorded answer, in small writes."""

    def __init__(self, answers: Iterator[bytes], opened: list[asyncio.BaseTransport]) -> None:
        self._answers = answers
        self._opened = opened
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._opened.append(transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, _, body = self._received.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if length is None or len(body) < int(length[1]):
            return
        self._received, answer = b"", next(self._answers)
        for start in range(0, len(answer), 100):
            self._transport.write(answer[start : start + 100])


@asynccontextmanager
async def replaying(
    *exchanges: Exchange,
) -> AsyncIterator[tuple[EndpointClient, list[asyncio.BaseTransport]]]:
    """The real client of a server, on real sockets, that replays these answers; and the connections it opened."""
    answers = iter([exchange.answer for exchange in exchanges])
    opened: list[asyncio.BaseTransport] = []
    server = await asyncio.get_running_loop().create_server(lambda: Replayer(answers, opened), "127.0.0.1", 0)
    target = Target("primary", "recorded", f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    streamed = "stream" in exchanges[0].request["body"]
    async with server, EndpointClient(target, stream=streamed, retry=RetryPolicy(retries=0)) as client:
        yield client, opened


async def ask(client: EndpointClient, exchange: Exchange) -> Reply:
    return await client.ask(exchange.request["path"].removeprefix("/v1"), exchange.request["body"])


@pytest.mark.parametrize(
    "name",
    [
        "litellm/passed_on_tools_stream",
        "litellm/reasoning_stream",
        "litellm/completion_stream",
        "llama_cpp/inline_reasoning_stream",
        "llama_cpp/logprobs",
        "llama_cpp/tools_stream",
        "transformers/reasoning_stream",
        "transformers/tools",
    ],
)
async def test_the_client_reads_them_from_real_sockets(name: str) -> None:
    exchange = SINGLE[name]
    expected = expected_of(exchange)
    async with replaying(exchange) as (client, _):
        reply = await ask(client, exchange)
    assert (reply.text, reply.reasoning) == (expected["text"], expected["reasoning"])
    assert [call["function"]["arguments"] for call in reply.tool_calls] == [
        call["arguments"] for call in expected["tool_calls"]
    ]
    assert reply.record.finish_reason == expected["finish_reason"]
    assert reply.record.usage.completion_tokens == expected["usage"]["completion_tokens"]
    assert reply.record.chunks == expected.get("chunks", 0)
    assert ("no_done" in reply.record.flags) == (expected.get("done") is False)


@pytest.mark.parametrize("server", ["litellm", "llama_cpp", "transformers"])
async def test_the_client_keeps_the_connection(server: str) -> None:
    exchanges = [
        exchange for exchange in CONNECTIONS[f"{server}/keep_alive"] if "chunks" not in exchange.expected
    ]
    async with replaying(*exchanges) as (client, opened):
        for exchange in exchanges:
            assert (await ask(client, exchange)).text == exchange.expected["text"]
    assert len(opened) == 1


ERRORS = {
    "litellm/no_key": (401, "No api key passed in"),
    "litellm/no_messages": (400, "Missing required parameter: 'messages'"),
    "litellm/overloaded": (529, "This is a mock error raised mid-stream"),
    "litellm/passed_on_error_in_stream": (500, "An error occurred during streaming"),
    "litellm/rate_limit": (429, "this is a mock rate limit error"),
    "litellm/server_error": (500, "this is a mock internal server error"),
    "litellm/too_long": (400, "context window exceeded"),
    "litellm/unknown_model": (400, "Invalid model name passed in model=no-such-model"),
    "litellm/wrong_key": (400, "No connected db"),
    "llama_cpp/too_long": (400, "maximum context length is 1024 tokens"),
    "llama_cpp/too_long_stream": (200, "the stream was empty"),
    "llama_cpp/wrong_key": (401, "Invalid API key"),
    "transformers/error_in_stream": (None, "`penalty` has to be a strictly positive float, but is -2.0"),
    "transformers/malformed_error_in_stream": (200, "not a chat completion chunk"),
    "transformers/server_error": (500, "Internal Server Error"),
    "transformers/unknown_field": (422, "Unexpected fields in the request: {'top_k'}"),
    "transformers/unknown_model": (400, "requested 'no-such-model'"),
}
WORTH_ANOTHER_TRY = {
    "litellm/overloaded",
    "litellm/passed_on_error_in_stream",
    "litellm/rate_limit",
    "litellm/server_error",
    "llama_cpp/too_long_stream",
    "transformers/error_in_stream",
    "transformers/malformed_error_in_stream",
    "transformers/server_error",
}


@pytest.mark.parametrize("name", ERRORS)
async def test_the_client_passes_on_what_the_server_says_is_wrong(name: str) -> None:
    exchange, (status, text) = SINGLE[name], ERRORS[name]
    async with replaying(exchange) as (client, _):
        with pytest.raises(ProviderError, match=re.escape(text)) as raised:
            await ask(client, exchange)
    assert raised.value.http_status == status
    assert raised.value.retryable == (name in WORTH_ANOTHER_TRY)


@pytest.mark.parametrize("name", ["litellm/no_key", "llama_cpp/wrong_key"])
async def test_a_refused_key_ends_the_run(name: str) -> None:
    async with replaying(SINGLE[name]) as (client, _):
        with pytest.raises(ProviderError, match="--api-key") as raised:
            await ask(client, SINGLE[name])
    assert raised.value.systemic
