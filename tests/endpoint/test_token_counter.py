"""Tokens are counted by servers' /tokenize, which takes the text under one of two names."""

from __future__ import annotations

import pytest
from tests.endpoint.card.played_server import Behaviour, played

from benchwright.endpoint.client import EndpointClient
from benchwright.records import Target

TEXT = "The sea is wide."


@pytest.mark.parametrize(("tokenize", "count"), [("count", 5), ("content", 5), ("none", None)])
async def test_it_is_asked_as_the_server_wants_it(tokenize: str, count: int | None) -> None:
    async with (
        played(Behaviour(tokenize=tokenize)) as server,
        EndpointClient(Target("primary", "m", server.base_url)) as client,
    ):
        assert await client.count_tokens(TEXT) == count


async def test_what_was_learned_is_not_tried_again() -> None:
    async with (
        played(Behaviour(tokenize="content")) as server,
        EndpointClient(Target("primary", "m", server.base_url)) as client,
    ):
        assert [await client.count_tokens(text) for text in (TEXT, "", TEXT)] == [5, 0, 5]
    assert ["prompt" in asked.body for asked in server.asked] == [True, False, False, False]


async def test_a_server_that_does_not_count_is_not_asked_again() -> None:
    async with (
        played(Behaviour(missing=frozenset({"/tokenize"}))) as server,
        EndpointClient(Target("primary", "m", server.base_url)) as client,
    ):
        assert [await client.count_tokens(TEXT) for _ in range(3)] == [None] * 3
    assert len(server.asked) == 1
