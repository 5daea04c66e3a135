"""Calls through the relay, as the session of a trial reads them."""

from __future__ import annotations

from typing import Any

import pytest

from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay, RelayedRequest
from benchwright.endpoint.reply import Reply
from benchwright.endpoint.request import RequestPurpose
from benchwright.engine.agent_requests import AgentAccess, read_relayed_request
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import RequestRecord, Target

HI = [{"role": "user", "content": "Hi"}]


@pytest.fixture
async def calls() -> AgentAccess:
    async with EndpointClient(Target("primary", "m", "http://127.0.0.1:9/v1")) as client:
        return AgentAccess(
            Relay().open_grant(client, {}, lambda asked: RequestPurpose(), lambda relayed: None)
        )


def reply(text: str) -> Reply:
    return Reply({"role": "assistant", "content": text}, text)


class TestHowTheyWent:
    def test_begins_with_nothing(self, calls: AgentAccess) -> None:
        assert (calls.reply, calls.failure, calls.messages) == (None, None, [])

    def test_is_told_by_the_last_answer(self, calls: AgentAccess) -> None:
        calls.store_result(reply("one"), None, HI)
        calls.store_result(reply("two"), None, [*HI, *HI])
        assert calls.messages == [*HI, *HI, {"role": "assistant", "content": "two"}]

    def test_failed_if_the_last_call_had_no_answer(self, calls: AgentAccess) -> None:
        error = ProviderError("no")
        calls.store_result(reply("one"), None, HI)
        calls.store_result(None, error, [])
        assert calls.failure is error
        assert calls.messages == [*HI, {"role": "assistant", "content": "one"}]

    def test_is_well_again_after_an_answer(self, calls: AgentAccess) -> None:
        calls.failure = LimitReached("turns", 1)
        calls.store_result(reply("one"), None, HI)
        assert calls.failure is None

    def test_does_not_change_with_a_call_that_was_given_up(self, calls: AgentAccess) -> None:
        calls.failure = error = ProviderError("no")
        calls.store_result(None, None, [])
        assert calls.failure is error


class TestRequest:
    @pytest.mark.parametrize(
        ("body", "messages"),
        [
            (b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}', HI),
            (b'{"model": "m", "prompt": "Hi"}', HI),
            (b'{"model": "m", "prompt": ["Hi"]}', []),
            (b'{"model": "m", "messages": "Hi"}', []),
            (b'{"model": "m", "messages": ["Hi"]}', []),
        ],
    )
    def test_tells_its_messages(self, body: bytes, messages: list[Any]) -> None:
        fields, told = read_relayed_request(RelayedRequest("/x", body, RequestRecord("r")))
        assert told == messages
        assert fields["model"] == "m"

    def test_that_only_the_models_server_can_read_is_kept_as_text(self) -> None:
        body = b'{"messages": [], "seed": 1e400}'
        assert read_relayed_request(RelayedRequest("/x", body, RequestRecord("r"))) == (
            {"body": body.decode()},
            [],
        )
