"""What is sent to an endpoint besides the key: headers of the user's, to every route that is asked there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.endpoint.http_kit import HELLO, STREAMED_HELLO, OpenClient, ask, json_answer
from tests.endpoint.relay.relay_kit import HI, Agent
from tests.endpoint.scripted_server import ASKED, Request, Serve

from benchwright.endpoint.access import ANONYMOUS_ACCESS, Access, Header, make_headers
from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.dialects import GEMINI, MESSAGES
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.request_heads import REQUEST_ID_HEADER, header_lines
from benchwright.endpoint.server_info import list_models, read_metrics
from benchwright.secrets import SECRETS

TEAM = Access("sk-a-key-0123456789", (Header("X-Team", "blue"),))


async def heads(serve: Serve, *answers: bytes) -> tuple[Any, list[Request]]:
    """A server that answers so, and the requests that it will have."""
    server = await serve([step for answer in answers for step in (ASKED, answer)])
    return server, server.requests


class TestAHeaderOfTheUsers:
    async def test_goes_with_every_kind_of_request(self, serve: Serve, open_client: OpenClient) -> None:
        vectors = json_answer({"data": [{"index": 0, "embedding": [1.0]}]})
        server, requests = await heads(
            serve, STREAMED_HELLO, vectors, json_answer({"count": 3}), json_answer({}, status="404 Not Found")
        )
        client = open_client(server.url, access=TEAM)
        await ask(client)
        await client.embed(["x"])
        await client.count_tokens("x")
        await client.supports_dialect(MESSAGES.path)
        assert [request.headers["x-team"] for request in requests] == ["blue"] * 4
        assert [request.headers["authorization"] for request in requests] == [f"Bearer {TEAM.api_key}"] * 4

    async def test_goes_with_lists_of_models_and_metrics(self, serve: Serve) -> None:
        server = await serve([ASKED, json_answer({"data": [{"id": "m"}]})], [ASKED, HELLO])
        await list_models(f"{server.url}/v1", TEAM)
        await read_metrics(f"{server.url}/metrics", TEAM)
        assert [request.headers["x-team"] for request in server.requests] == ["blue"] * 2

    async def test_goes_before_what_a_program_sends_through_the_relay(
        self, serve: Serve, open_client: OpenClient
    ) -> None:
        server, requests = await heads(serve, json_answer({}, status="400 Bad Request"), json_answer({}))
        client = open_client(server.url, access=Access(headers=(Header("Anthropic-Version", "newer"),)))
        async with Relay() as relay:
            agent = Agent(relay, client)
            await agent.ask({**HI, "max_tokens": 5}, "anthropic-version: older", path=f"/v1{MESSAGES.path}")
            await agent.leave()
        assert [request.headers["anthropic-version"] for request in requests] == ["newer"] * 2

    @pytest.mark.parametrize("name", ["Authorization", "authorization", "USER-AGENT", "accept", "host"])
    async def test_takes_the_place_of_ours_in_whichever_case(
        self, serve: Serve, open_client: OpenClient, name: str
    ) -> None:
        server, requests = await heads(serve, STREAMED_HELLO)
        await ask(open_client(server.url, access=Access("sk-a-key", (Header(name, "mine"),))))
        (request,) = requests
        assert request.headers[name.lower()] == "mine"

    @given(st.lists(st.sampled_from(["host", "Authorization", "ACCEPT", "X-New", "user-agent"]), unique=True))
    def test_leaves_no_name_twice(self, names: list[str]) -> None:
        access = Access("key", tuple(Header(name, "mine") for name in names))
        lines = header_lines(parse_base_url("http://h/v1"), access, [("Accept", "*/*")])
        sent = [line.partition(":")[0].lower() for line in lines]
        assert len(sent) == len(set(sent))

    async def test_that_is_the_request_id_is_sent_alone(self, serve: Serve, open_client: OpenClient) -> None:
        server, requests = await heads(serve, STREAMED_HELLO)
        await ask(
            open_client(server.url, access=Access(headers=(Header(REQUEST_ID_HEADER.lower(), "mine"),)))
        )
        assert requests[0].headers["x-request-id"] == "mine"

    async def test_replaces_the_key_of_every_dialect(self, serve: Serve, open_client: OpenClient) -> None:
        server, requests = await heads(serve, json_answer({}), json_answer({}))
        access = Access("sk-a-key", (Header("X-Api-Key", "mine"), Header("x-goog-api-key", "mine, too")))
        client = open_client(server.url, access=access)
        await client.supports_dialect(MESSAGES.path)
        await client.supports_dialect(GEMINI.path)
        assert requests[0].headers["x-api-key"] == "mine"
        assert requests[1].headers["x-goog-api-key"] == "mine, too"


class TestAnAccess:
    def test_shows_no_secret(self) -> None:
        access = Access("sk-a-key", (Header("X", "value-of-x"),))
        assert "sk-a-key" not in repr(access)
        assert "value-of-x" not in f"{access} {access.headers}"

    def test_elsewhere_has_neither_key_nor_headers(self) -> None:
        assert TEAM.for_url("http://b/metrics", "http://a/v1") == ANONYMOUS_ACCESS
        assert TEAM.for_url("http://a/metrics", "http://a/v1") == TEAM
        assert TEAM.for_url("http://a:81/metrics", "http://a/v1") == ANONYMOUS_ACCESS

    def test_beside_another_takes_what_it_lacks(self) -> None:
        own = Access(None, (Header("x-team", "red"),))
        other = Access("key", (Header("X-Team", "blue"), Header("X-Site", "b")))
        assert own.with_defaults(other) == Access("key", (Header("X-Site", "b"), Header("x-team", "red")))

    def test_registers_the_secrets_of_its_headers(self) -> None:
        make_headers({"Authorization": "Bearer a-token-of-headers"}, {"X-Env": "from-the-environment"})
        said = SECRETS.redact("a-token-of-headers and from-the-environment")
        assert said == "[secret] and [secret]"

    def test_tells_which_headers_may_be_shown(self) -> None:
        headers = make_headers({"X-Provider": "openai", "X-Api-Key": "0123456789"}, {"X-Env": "abcdefghij"})
        assert Access(headers=headers).plain_headers == {"x-provider": "openai"}
