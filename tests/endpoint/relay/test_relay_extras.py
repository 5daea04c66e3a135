"""What the relay adds to a program's requests, and a strict server does not take."""

from __future__ import annotations

from tests.endpoint.http_kit import OpenClient, error_answer
from tests.endpoint.relay.relay_kit import LetIn
from tests.endpoint.scripted_server import Request, Serve
from tests.endpoint.strict_server import OWN, refuses, silently, strict

from benchwright.endpoint.dialects import MESSAGES


async def test_what_translation_adds_is_left_out(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    def rule(request: Request) -> bytes | None:
        if request.line.split()[1] == f"/v1{MESSAGES.path}":
            return error_answer("404 Not Found", "no such path")
        return refuses("stream_options", "unknown field stream_options")(request)

    server = await strict(serve, rule)
    agent = let_in(open_client(server.url))
    asked = {
        "model": "m",
        "max_tokens": 9,
        "stream": True,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    answers = [await agent.ask(asked, path=f"/v1{MESSAGES.path}") for _ in range(2)]
    assert [answer.status for answer in answers] == [200, 200]
    assert ["stream_options" in request.json for request in server.requests[1:]] == [True, False, False]
    assert all("without:stream_options" in one.record.flags for one in agent.relayed)


async def test_what_the_program_itself_asks_is_refused_to_it(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    server = await strict(serve, refuses("seed", "seed is not supported"))
    agent = let_in(open_client(server.url, {"seed": 1}, added=OWN))
    body = {"model": "m", "seed": 5, "messages": [{"role": "user", "content": "Hi"}]}
    assert (await agent.ask(body)).status == 400
    assert len(server.requests) == 1


async def test_a_seed_that_the_relay_adds_is_left_out(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    server = await strict(serve, refuses("seed", "seed is not supported"))
    agent = let_in(open_client(server.url, {"seed": 1}, added=OWN))
    assert (await agent.ask()).status == 200
    assert [request.json.get("seed") for request in server.requests] == [1, None]


async def test_a_silent_refusal_has_the_request_id_left_out(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    server = await strict(serve, silently("X-Request-Id"))
    agent = let_in(open_client(server.url))
    assert [(await agent.ask()).status for _ in range(2)] == [200, 200]
    assert ["x-request-id" in request.headers for request in server.requests] == [True, False, False]


CONVERSATION = [
    {"role": "user", "content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]},
    {
        "role": "assistant",
        "content": None,
        "provider_specific_fields": {"refusal": None},
        "tool_calls": [
            {
                "id": "1",
                "type": "function",
                "function": {"name": "bash", "arguments": '{"provider_specific_fields": 1}'},
                "provider_specific_fields": {},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "1", "content": "provider_specific_fields"},
]
"""A conversation as agents that use LiteLLM send it."""


async def test_fields_that_client_libraries_add_to_messages_are_left_out_once_refused(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    def rule(request: Request) -> bytes | None:
        message = request.json["messages"][1]
        if "provider_specific_fields" in message.keys() | message["tool_calls"][0].keys():
            return error_answer("400 Bad Request", "messages[1]: unknown field provider_specific_fields")
        return None

    server = await strict(serve, rule)
    agent = let_in(open_client(server.url))
    asked = {"model": "m", "messages": CONVERSATION}
    assert [(await agent.ask(asked)).status for _ in range(2)] == [200, 200]
    assert [request.json["messages"] == CONVERSATION for request in server.requests] == [True, False, False]
    first, call, result = server.requests[1].json["messages"]
    assert (first, result) == (CONVERSATION[0], CONVERSATION[2]), "what was not refused stays"
    assert call["tool_calls"][0]["function"] == {
        "name": "bash",
        "arguments": '{"provider_specific_fields": 1}',
    }
    assert all("without:provider_specific_fields" in one.record.flags for one in agent.relayed)


async def test_fields_of_messages_that_are_not_refused_are_passed_on(
    serve: Serve, open_client: OpenClient, let_in: LetIn
) -> None:
    server = await strict(serve, refuses("seed", "seed is not supported"))
    agent = let_in(open_client(server.url))
    assert (await agent.ask({"model": "m", "messages": CONVERSATION})).status == 200
    assert server.requests[0].json["messages"] == CONVERSATION
