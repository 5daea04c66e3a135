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
