"""Vectors of texts from /embeddings: in the order of the texts, asked for again where that helps."""

from __future__ import annotations

import pytest
from tests.endpoint.http_kit import OpenClient, error_answer, json_answer
from tests.endpoint.scripted_server import ASKED, Serve

from benchwright.errors import ProviderError

TWO = {"data": [{"index": 1, "embedding": [3, 4.5]}, {"index": 0, "embedding": [1, 2]}]}


async def test_vectors_are_in_the_order_of_their_texts(serve: Serve, open_client: OpenClient) -> None:
    server = await serve([ASKED, error_answer("503 Busy"), ASKED, json_answer(TWO)])
    assert await open_client(server.url).embed(["a", "b"]) == [[1.0, 2.0], [3.0, 4.5]]
    assert server.requests[-1].json == {"model": "m", "input": ["a", "b"]}


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (json_answer({"data": TWO["data"][:1]}), "something else than 2 vectors of one length"),
        (json_answer({"data": [{"index": n, "embedding": [1] * n} for n in range(2)]}), "of one length"),
        (json_answer({"choices": []}), "answers with no embeddings"),
        (error_answer("404 Not Found", "no such model"), "no such model"),
    ],
)
async def test_what_is_no_such_answer_is_an_error(
    serve: Serve, open_client: OpenClient, answer: bytes, complaint: str
) -> None:
    server = await serve([ASKED, answer])
    with pytest.raises(ProviderError, match=complaint):
        await open_client(server.url).embed(["a", "b"])
