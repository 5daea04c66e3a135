"""Dialects through the relay: passed on where the target speaks them, translated where it does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tests.endpoint.dialects.clients import events_in, read_gemini, read_messages, read_responses
from tests.endpoint.http_kit import (
    Collected,
    OpenClient,
    completion,
    delta,
    error_answer,
    event,
    head,
    json_answer,
    sse_answer,
)
from tests.endpoint.relay.relay_kit import Agent, LetIn
from tests.endpoint.scripted_server import ASKED, CLOSE, Serve

from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.flags import DIALECT_UNDECIDED_FLAG, TRANSLATED_FLAG
from benchwright.endpoint.simulate import Faults, ScriptedCall, Settings, SimulatedEndpoint, TruthRecord
from benchwright.secrets import SECRETS

MESSAGES, RESPONSES = "/v1/messages?beta=true", "/v1/responses"
GEMINI = "/v1beta/models/asked-for:generateContent"
STREAMED = {GEMINI: "/v1beta/models/asked-for:streamGenerateContent?alt=sse"}
"""Where a stream is asked for at another address."""
NAMES = {MESSAGES: "messages", RESPONSES: "responses", GEMINI: "gemini"}
SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
BODIES: dict[str, dict[str, Any]] = {
    MESSAGES: {
        "model": "asked-for",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "Say this again."}],
        "tools": [{"name": "shell", "input_schema": SHELL}],
    },
    RESPONSES: {
        "model": "asked-for",
        "input": "Say this again.",
        "tools": [{"type": "function", "name": "shell", "parameters": SHELL}],
    },
    GEMINI: {
        "contents": [{"role": "user", "parts": [{"text": "Say this again."}]}],
        "tools": [{"functionDeclarations": [{"name": "shell", "parametersJsonSchema": SHELL}]}],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
    },
}
NOT_THERE = error_answer("404 Not Found")
"""What a server without a dialect answers when it is asked for it."""

dialects = pytest.mark.parametrize("path", NAMES, ids=NAMES.get)
ways = pytest.mark.parametrize("chat_only", [False, True], ids=["passed on", "translated"])
streaming = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])

Simulate = Callable[[Settings], Awaitable[SimulatedEndpoint]]


@pytest.fixture
async def simulate() -> AsyncIterator[Simulate]:
    started: list[SimulatedEndpoint] = []

    async def start(settings: Settings) -> SimulatedEndpoint:
        started.append(await SimulatedEndpoint(settings).__aenter__())
        return started[-1]

    yield start
    for endpoint in started:
        await endpoint.__aexit__(None, None, None)


def let_ask(let_in: LetIn, open_client: OpenClient, endpoint: SimulatedEndpoint, **options: Any) -> Agent:
    return let_in(open_client(endpoint.base_url.removesuffix("/v1"), **options))


async def ask(agent: Agent, path: str, *, stream: bool = False, **fields: Any) -> Collected:
    """Asks in the dialect of this path, for a stream or not."""
    if path == GEMINI:
        return await agent.ask({**BODIES[path], **fields}, path=STREAMED[path] if stream else path)
    return await agent.ask({**BODIES[path], "stream": stream, **fields}, path=path)


def read(path: str, answer: Collected) -> dict[str, Any]:
    """The answer as a client of the dialect sees it."""
    assert answer.status == 200, answer.body
    kind = next(value for name, value in answer.headers if name == b"content-type")
    if not kind.startswith(b"text/event-stream"):
        whole: dict[str, Any] = json.loads(answer.body)
        return whole
    readers = {MESSAGES: read_messages, RESPONSES: read_responses, GEMINI: read_gemini}
    return readers[path](events_in(answer.body))


def text_in(path: str, answer: dict[str, Any]) -> str:
    if path == GEMINI:
        parts = answer["candidates"][0]["content"]["parts"]
        return "".join(part["text"] for part in parts if not part.get("thought"))
    blocks = answer["content"] if path == MESSAGES else answer["output"][-1]["content"]
    return "".join(block.get("text", "") for block in blocks)


def generated(endpoint: SimulatedEndpoint) -> list[TruthRecord]:
    """What the server knows of the requests that it answered."""
    return [truth for truth in endpoint.log if truth.complete]


@dialects
@ways
@streaming
class TestAnswer:
    async def test_is_that_of_the_model(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        chat_only: bool,
        stream: bool,
    ) -> None:
        endpoint = await simulate(Settings(chat_only=chat_only, reasoning="Let me think."))
        agent = let_ask(let_in, open_client, endpoint)
        answer = read(path, await ask(agent, path, stream=stream))
        assert text_in(path, answer) == "Say this again."
        assert "Let me think." in json.dumps(answer)

    async def test_is_counted_as_the_server_counts(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        chat_only: bool,
        stream: bool,
    ) -> None:
        endpoint = await simulate(Settings(chat_only=chat_only, cache_blocks=100, block_size=1))
        agent = let_ask(let_in, open_client, endpoint)
        for _ in range(2):
            await ask(agent, path, stream=stream)
        truths = generated(endpoint)
        counted = [relayed.record.usage for relayed in agent.relayed]
        assert [(one.prompt_tokens, one.completion_tokens, one.cached_tokens) for one in counted] == [
            (truth.prompt_tokens, truth.tokens, truth.cached_tokens) for truth in truths
        ]
        assert counted[1].cached_tokens

    async def test_is_told_in_its_record(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        chat_only: bool,
        stream: bool,
    ) -> None:
        agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
        await ask(agent, path, stream=stream)
        record = agent.record
        assert record.dialect == NAMES[path]
        assert (TRANSLATED_FLAG in record.flags) is chat_only
        assert (record.finish_reason, record.error) == ("stop", None)
        assert (record.ttft is not None) is stream
        assert [reply.text for reply in agent.replies] == ["Say this again."]

    async def test_is_kept_as_a_chat_completion(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        chat_only: bool,
        stream: bool,
    ) -> None:
        agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
        await ask(agent, path, stream=stream)
        (relayed,) = agent.relayed
        kept = json.loads(relayed.body)
        assert kept["messages"] == [{"role": "user", "content": "Say this again."}]
        assert kept["tools"][0]["function"]["name"] == "shell"

    async def test_may_be_a_call(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        chat_only: bool,
        stream: bool,
    ) -> None:
        call = ScriptedCall("shell", {"command": "ls"})
        endpoint = await simulate(Settings(chat_only=chat_only, tool_calls=(call,)))
        agent = let_ask(let_in, open_client, endpoint)
        answer = read(path, await ask(agent, path, stream=stream))
        if path == MESSAGES:
            (made,) = answer["content"]
            assert (made["name"], made["input"], answer["stop_reason"]) == (
                "shell",
                {"command": "ls"},
                "tool_use",
            )
        elif path == GEMINI:
            (part,) = answer["candidates"][0]["content"]["parts"]
            made = part["functionCall"]
            assert (made["name"], made["args"]) == ("shell", {"command": "ls"})
        else:
            (made,) = answer["output"]
            assert (made["name"], json.loads(made["arguments"])) == ("shell", {"command": "ls"})
        (reply,) = agent.replies
        assert reply.tool_calls[0]["id"] == made.get("call_id", made["id"])


@dialects
class TestPassedOn:
    async def test_byte_for_byte(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        stream = b'event: x\r\ndata: {"type":  "ping"}\r\n\r\n: a comment\n\n' * 3
        raw = head("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (stream[:50], stream[50:], b""))
        server = await serve([ASKED, error_answer("400 Bad Request"), ASKED, raw + chunks])
        agent = let_in(open_client(server.url))
        assert (await ask(agent, path, stream=True)).body == stream

    async def test_with_the_real_key_and_the_targets_model(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, error_answer("400 Bad Request"), ASKED, json_answer({})])
        agent = let_in(open_client(server.url, {"max_tokens": 7, "seed": 3}, key="sk-real-key"))
        await agent.ask(BODIES[path], "anthropic-beta: some-beta", path=path)
        _, request = server.requests
        if path == GEMINI:
            assert request.line == "POST /v1beta/models/m:generateContent HTTP/1.1"
            assert request.headers["x-goog-api-key"] == "sk-real-key"
            assert "authorization" not in request.headers  # Google takes it for a token of OAuth
            config = {**BODIES[GEMINI]["generationConfig"], "maxOutputTokens": 7, "seed": 3}
            assert request.json == {**BODIES[GEMINI], "generationConfig": config}
            return
        assert request.headers["authorization"] == "Bearer sk-real-key"
        assert request.headers["anthropic-beta"] == "some-beta" or path == RESPONSES
        assert request.json["model"] == "m"
        assert request.json["max_tokens" if path == MESSAGES else "max_output_tokens"] == 7
        assert "seed" not in request.json
        assert "benchwright-" not in str(request.headers)

    async def test_asks_only_once_whether_it_may(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        endpoint = await simulate(Settings())
        agent = let_ask(let_in, open_client, endpoint)
        await asyncio.gather(*(ask(agent, path) for _ in range(3)))
        assert sorted(truth.status for truth in endpoint.log) == [200, 200, 200, 400]


KEEPS_ALIVE = {MESSAGES: b'event: ping\ndata: {"type":"ping"}\n\n', RESPONSES: b": keep-alive\n\n"}
STREAM = head("Content-Type: text/event-stream")
FAST = RetryPolicy(retries=2, first_delay=0.01)


def signs_of_life(path: str, body: bytes) -> int:
    """How often a stream said that it is alive; Gemini's clients take nothing but empty events for it."""
    return body.count(KEEPS_ALIVE[path]) if path in KEEPS_ALIVE else body.split(b"\n\n")[:-1].count(b"")


@dialects
class TestSilence:
    """A stream in which the target is silent for a while."""

    @pytest.fixture(autouse=True)
    def impatience(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("benchwright.endpoint.relay.translated_answer.KEEP_ALIVE_SECONDS", 0.05)

    @pytest.mark.parametrize("place", [0, 1, 2], ids=["before the answer", "before a token", "after a token"])
    async def test_is_filled_with_signs_of_life_where_it_is_translated(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str, place: int
    ) -> None:
        steps: list[Any] = [STREAM, event(delta(content="Hel")), event(delta("stop", content="lo")), CLOSE]
        steps.insert(place, 0.18)
        server = await serve([ASKED, NOT_THERE, ASKED, *steps])
        answer = await ask(let_in(open_client(server.url)), path, stream=True)
        assert signs_of_life(path, answer.body) >= 2
        assert text_in(path, read(path, answer)) == "Hello"

    async def test_may_end_in_one_body(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, 0.08, json_answer(completion("Hello"))])
        answer = await ask(let_in(open_client(server.url)), path, stream=True)
        assert signs_of_life(path, answer.body)
        assert text_in(path, read(path, answer)) == "Hello"

    async def test_may_end_in_another_attempt(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        busy = error_answer("503 Service Unavailable", "busy")
        said = [STREAM, event(delta("stop", content="Hello")), CLOSE]
        server = await serve([ASKED, NOT_THERE, ASKED, 0.08, busy, ASKED, *said])
        agent = let_in(open_client(server.url, retry=FAST))
        answer = await ask(agent, path, stream=True)
        assert text_in(path, read(path, answer)) == "Hello"

    async def test_may_end_in_an_error(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, 0.08, error_answer("400 Bad Request", "too long")])
        answer = await ask(let_in(open_client(server.url)), path, stream=True)
        assert "too long" in json.dumps(events_in(answer.body)[-1])

    async def test_is_left_as_it_is_where_answers_are_passed_on(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        stream = b'event: x\ndata: {"type":"x"}\n\n'
        server = await serve(
            [ASKED, error_answer("400 Bad Request"), ASKED, 0.12, STREAM, 0.12, stream, CLOSE]
        )
        answer = await ask(let_in(open_client(server.url)), path, stream=True)
        assert answer.body == stream


@dialects
class TestProbe:
    """The question whether the target speaks a dialect itself."""

    @pytest.mark.parametrize(
        "trouble", ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable"]
    )
    async def test_is_asked_again_where_the_server_has_passing_trouble(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str, trouble: str
    ) -> None:
        server = await serve(
            [ASKED, error_answer(trouble), ASKED, error_answer("400 Bad Request"), ASKED, json_answer({})]
        )
        agent = let_in(open_client(server.url, retry=FAST))
        await ask(agent, path)
        assert TRANSLATED_FLAG not in agent.record.flags

    async def test_is_asked_again_where_the_connection_breaks(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, CLOSE], [ASKED, error_answer("400 Bad Request"), ASKED, json_answer({})])
        agent = let_in(open_client(server.url, retry=FAST))
        await ask(agent, path)
        assert TRANSLATED_FLAG not in agent.record.flags

    async def test_that_stays_open_is_decided_for_a_translation_which_says_so(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        busy = [ASKED, error_answer("500 Internal Server Error")] * 3
        server = await serve([*busy, *[ASKED, json_answer(completion("Hello"))] * 2])
        agent = let_in(open_client(server.url, retry=FAST))
        for _ in range(2):
            assert text_in(path, read(path, await ask(agent, path))) == "Hello"
        assert [relayed.record.flags for relayed in agent.relayed] == [
            [TRANSLATED_FLAG, DIALECT_UNDECIDED_FLAG]
        ] * 2

    async def test_is_asked_anew_after_the_server_could_not_be_reached(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        answered = [ASKED, error_answer("400 Bad Request"), ASKED, json_answer({})]
        server = await serve(*[[ASKED, CLOSE]] * 2, answered)
        agent = let_in(open_client(server.url, retry=RetryPolicy(retries=0)))
        await ask(agent, path)
        await ask(agent, path)
        assert [TRANSLATED_FLAG in relayed.record.flags for relayed in agent.relayed] == [True, False]


@dialects
class TestTranslated:
    async def test_asks_for_the_tokens_of_a_stream(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, sse_answer(delta("stop", content="Hi"))])
        agent = let_in(open_client(server.url, {"seed": 3}))
        await ask(agent, path, stream=True)
        body = server.requests[-1].json
        assert body["stream_options"] == {"include_usage": True}
        assert (body["model"], body["seed"]) == ("m", 3)

    async def test_cuts_a_larger_limit_of_tokens(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, json_answer(completion())])
        agent = let_in(open_client(server.url, {"max_tokens": 9}))
        limits: dict[str, dict[str, Any]] = {
            MESSAGES: {"max_tokens": 32000},
            RESPONSES: {"max_output_tokens": 32000},
            GEMINI: {"generationConfig": {"maxOutputTokens": 32000}},
        }
        await ask(agent, path, **limits[path])
        assert server.requests[-1].json["max_tokens"] == 9

    async def test_names_the_model_that_was_asked_for(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, json_answer(completion())])
        agent = let_in(open_client(server.url))
        answer = read(path, await ask(agent, path))
        assert answer["modelVersion" if path == GEMINI else "model"] == "asked-for"

    async def test_a_body_in_place_of_a_stream_is_told_as_a_stream(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, json_answer(completion("Hello"))])
        agent = let_in(open_client(server.url))
        answer = await ask(agent, path, stream=True)
        assert (b"content-type", b"text/event-stream") in answer.headers
        assert text_in(path, read(path, answer)) == "Hello"

    async def test_events_leave_as_the_pieces_come(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        first = event(delta(content="Hel"))
        steps = [
            head("Content-Type: text/event-stream"),
            first,
            0.1,
            event(delta("stop", content="lo")),
            CLOSE,
        ]
        server = await serve([ASKED, NOT_THERE, ASKED, *steps])
        agent = let_in(open_client(server.url))
        answer = await ask(agent, path, stream=True)
        early = next(
            at for at, piece in zip(answer.moments[1:], answer.pieces, strict=True) if b"Hel" in piece
        )
        assert answer.moments[-1] - early > 50e6

    async def test_a_stream_that_breaks_off_says_so(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        steps = [head("Content-Type: text/event-stream"), event(delta(content="Hel")), 0.02, CLOSE]
        server = await serve([ASKED, NOT_THERE, ASKED, *steps])
        agent = let_in(open_client(server.url))
        events = events_in((await ask(agent, path, stream=True)).body)
        assert "error" in events[-1] or events[-1]["type"] == "response.failed"
        assert agent.record.error is not None

    async def test_what_cannot_be_said_is_refused(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE])
        agent = let_in(open_client(server.url))
        answer = await agent.ask({"model": "m", "messages": 7, "previous_response_id": "x"}, path=path)
        assert answer.status == 400
        assert len(server.requests) == 1


@dialects
@ways
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"messages": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b'{"input": 7}',
        b'{"contents": [], "tools": [7], "generationConfig": 7, "messages": 7, "input": 7}',
    ],
)
async def test_what_cannot_be_read_is_refused(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn, path: str, chat_only: bool, body: bytes
) -> None:
    agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
    assert (await agent.ask(body, path=path)).status == 400


def error_of(path: str, answer: Collected) -> dict[str, Any]:
    """The error object of an answer, which is in the shape of the dialect."""
    body = json.loads(answer.body)
    error: dict[str, Any] = body["error"]
    if path == MESSAGES:
        assert body["type"] == "error"
        assert set(error) == {"type", "message"}
    elif path == GEMINI:
        assert set(error) == {"message", "code", "status"}
        assert error["code"] == answer.status
    else:
        assert set(error) == {"message", "type", "param", "code"}
    return error


@dialects
class TestErrors:
    async def test_of_the_target_come_in_the_dialect(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        server = await serve([ASKED, NOT_THERE, ASKED, error_answer("400 Bad Request", "too long")])
        agent = let_in(open_client(server.url))
        answer = await ask(agent, path)
        assert answer.status == 400
        assert "too long" in error_of(path, answer)["message"]

    async def test_hold_no_key(self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str) -> None:
        SECRETS.add("sk-the-real-key-that-is-secret")
        refused = error_answer("400 Bad Request", "bad key sk-the-real-key-that-is-secret")
        server = await serve([ASKED, NOT_THERE, ASKED, refused])
        agent = let_in(open_client(server.url, key="sk-the-real-key-that-is-secret"))
        assert b"that-is-secret" not in (await ask(agent, path)).body

    async def test_of_a_wrong_token_come_in_the_dialect(
        self, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = await agent.ask(BODIES[path], path=path, token="wrong")
        assert answer.status == 401
        error_of(path, answer)

    async def test_that_pass_are_asked_again(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        faults = Faults(rate_limit=0.5, server_error=0.5, max_faults=2, retry_after=0.01)
        endpoint = await simulate(Settings(chat_only=True, faults=faults))
        agent = let_ask(let_in, open_client, endpoint, retry=RetryPolicy(first_delay=0.01))
        assert (await ask(agent, path)).status == 200
        assert agent.record.attempts == 3

    async def test_that_stay_are_handed_on_in_the_end(
        self, serve: Serve, open_client: OpenClient, let_in: LetIn, path: str
    ) -> None:
        busy = error_answer("500 Internal Server Error", "busy")
        server = await serve([ASKED, NOT_THERE, ASKED, busy, ASKED, busy])
        agent = let_in(open_client(server.url, retry=RetryPolicy(retries=1, first_delay=0.01)))
        answer = await ask(agent, path)
        assert answer.status == 500
        assert "busy" in error_of(path, answer)["message"]
        assert agent.record.attempts == 2


@dialects
@streaming
async def test_a_limit_ends_a_program_by_a_last_answer_without_calls(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn, path: str, stream: bool
) -> None:
    endpoint = await simulate(Settings())
    agent = let_in(open_client(endpoint.base_url.removesuffix("/v1")), turns=0)
    answer = read(path, await ask(agent, path, stream=stream))
    assert text_in(path, answer) == "the trial reached its limit of 0 turns."
    assert agent.relayed == []


class TestKeys:
    @pytest.mark.parametrize("name", ["x-api-key", "x-goog-api-key"])
    async def test_are_read_in_every_header(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn, name: str
    ) -> None:
        agent = let_ask(let_in, open_client, await simulate(Settings()))
        call = agent.request(BODIES[MESSAGES], f"{name}: {agent.token}", path=MESSAGES, token="")
        assert (await ask_by_hand(agent, call.head + call.body)).startswith(b"HTTP/1.1 200")

    @ways
    async def test_are_read_in_the_address_and_go_no_further(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn, chat_only: bool
    ) -> None:
        agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
        path = f"{STREAMED[GEMINI]}&key={agent.token}"
        answer = await agent.ask(BODIES[GEMINI], path=path, token="")
        assert text_in(GEMINI, read(GEMINI, answer)) == "Say this again."
        (relayed,) = agent.relayed
        assert agent.token not in repr(relayed)

    async def test_in_an_address_are_in_no_error(self, open_client: OpenClient, let_in: LetIn) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = await agent.ask({}, path="/v1beta/models/m:embedContent?key=a-wrong-one", token="")
        assert error_of(GEMINI, answer)["status"] == "UNAUTHENTICATED"
        assert b"a-wrong-one" not in answer.body


async def ask_by_hand(agent: Agent, request: bytes) -> bytes:
    """The bytes of the answer to a request, on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", agent.port)
    writer.write(request)
    answered = await reader.readuntil(b"\r\n\r\n")
    writer.close()
    return answered


class TestPaths:
    async def test_that_only_look_whether_anybody_is_there_need_no_key(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answered = await ask_by_hand(agent, b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 200")
        assert agent.relayed == []

    async def test_that_are_unknown_are_refused_as_messages_do_it(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = await agent.ask({}, path="/v1/messages/batches")
        assert answer.status == 404
        assert error_of(MESSAGES, answer)["type"] == "not_found_error"

    async def test_of_a_web_socket_are_refused(self, open_client: OpenClient, let_in: LetIn) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        call = agent.request(b"", "Connection: Upgrade", "Upgrade: websocket", path=RESPONSES, method="GET")
        assert (await ask_by_hand(agent, call.head)).startswith(b"HTTP/1.1 405")

    @ways
    @pytest.mark.parametrize(
        ("path", "body", "field"),
        [
            ("/v1/messages/count_tokens?beta=true", BODIES[MESSAGES], "input_tokens"),
            ("/v1beta/models/x:countTokens", BODIES[GEMINI], "totalTokens"),
            (
                "/v1beta/models/x:countTokens",
                {"generateContentRequest": {"model": "models/x", **BODIES[GEMINI]}},
                "totalTokens",
            ),
        ],
    )
    async def test_of_counting_count_as_the_server_does(
        self,
        simulate: Simulate,
        open_client: OpenClient,
        let_in: LetIn,
        path: str,
        body: dict[str, Any],
        field: str,
        chat_only: bool,
    ) -> None:
        agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
        answer = await agent.ask(body, path=path)
        assert json.loads(answer.body)[field] >= 3
        assert agent.relayed == []

    async def test_of_models_are_read_by_clients_of_messages(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = json.loads((await agent.ask(b"", path="/v1/models", method="GET")).body)
        assert answer["data"][0]["type"] == "model"
        assert answer["has_more"] is False

    async def test_of_models_are_read_by_clients_of_gemini(
        self, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_in(open_client("http://127.0.0.1:9"))
        answer = json.loads((await agent.ask(b"", path="/v1beta/models", method="GET")).body)
        assert [model["name"] for model in answer["models"]] == ["models/m"]
        one = json.loads((await agent.ask(b"", path="/v1beta/models/org/x", method="GET")).body)
        assert one["name"] == "models/org/x"


async def test_the_token_of_a_run_finds_the_model_in_the_address(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn
) -> None:
    agent = let_ask(let_in, open_client, await simulate(Settings()))
    noted: list[Any] = []
    token = agent.share(noted.append)
    for model, status in (("m", 200), ("another", 404)):
        answer = await agent.ask(BODIES[GEMINI], path=GEMINI.replace("asked-for", model), token=token)
        assert answer.status == status
    assert error_of(GEMINI, answer)["status"] == "NOT_FOUND"
    assert len(noted) == 1


@ways
async def test_a_stream_of_gemini_may_be_one_array(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn, chat_only: bool
) -> None:
    agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=chat_only)))
    answer = await agent.ask(BODIES[GEMINI], path=STREAMED[GEMINI].partition("?")[0])
    assert text_in(GEMINI, read_gemini(json.loads(answer.body))) == "Say this again."
    assert agent.record.usage.completion_tokens == 3


async def test_tools_that_google_runs_do_not_make_a_turn(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn
) -> None:
    agent = let_ask(let_in, open_client, await simulate(Settings()))
    offered: list[Any] = [[{"googleSearch": {}}], BODIES[GEMINI]["tools"]]
    for tools in offered:
        await ask(agent, GEMINI, tools=tools)
    assert [relayed.request_facts.offers_tools for relayed in agent.relayed] == [False, True]


class TestBodies:
    async def test_of_33_mib_in_chunks_come_through(
        self, simulate: Simulate, open_client: OpenClient, let_in: LetIn
    ) -> None:
        agent = let_ask(
            let_in, open_client, await simulate(Settings(chat_only=True, policy="words", words=1))
        )
        text = "x" * (33 * 1024 * 1024)
        body = json.dumps({**BODIES[MESSAGES], "messages": [{"role": "user", "content": text}]}).encode()
        line = f"POST {MESSAGES} HTTP/1.1\r\nhost: x\r\nx-api-key: {agent.token}\r\n"
        start = f"{line}transfer-encoding: chunked\r\n\r\n".encode()
        chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:1000], body[1000:], b""))
        assert (await ask_by_hand(agent, start + chunks)).startswith(b"HTTP/1.1 200")


async def test_several_requests_at_once_are_normal(
    simulate: Simulate, open_client: OpenClient, let_in: LetIn
) -> None:
    agent = let_ask(let_in, open_client, await simulate(Settings(chat_only=True)))
    asked = [ask(agent, path, stream=True) for path in NAMES for _ in range(5)]
    answers = await asyncio.gather(*asked)
    assert {answer.status for answer in answers} == {200}
    assert len(agent.relayed) == 15
