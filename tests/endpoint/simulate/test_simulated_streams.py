"""Streams: the shape of their events, and how they are cut up on the way."""

from __future__ import annotations

import json
from typing import Any

import httptools
import pytest
from tests.endpoint.simulate.simulate_kit import Client, Simulate

from benchwright.endpoint.simulate import Delay


class ChunkReader:
    """Tells the HTTP chunks of a response apart."""

    def __init__(self, response: bytes) -> None:
        self.chunks: list[bytes] = []
        self.complete = False
        httptools.HttpResponseParser(self).feed_data(response)

    def on_chunk_header(self) -> None:
        self.chunks.append(b"")

    def on_body(self, body: bytes) -> None:
        self.chunks[-1] += body

    def on_message_complete(self) -> None:
        self.complete = True


def http_chunks(client: Client, prompt: str, **fields: Any) -> list[bytes]:
    """The HTTP chunks in which an answer to a streamed request comes."""
    body = json.dumps({"messages": [{"role": "user", "content": prompt}], "stream": True, **fields}).encode()
    with client.open_socket() as connection:
        connection.sendall(client.request_bytes(body, f"Content-Length: {len(body)}"))
        response = b""
        while not response.endswith(b"\r\n0\r\n\r\n"):
            response += connection.recv(65536)
    reader = ChunkReader(response)
    assert reader.complete
    return [chunk for chunk in reader.chunks if chunk]


def undelayed_http_chunks(client: Client, prompt: str, count: int) -> list[bytes]:
    """An answer of so many HTTP chunks. One of fewer is asked for again: tokens that became due while the server
    got no processor come together."""
    for _ in range(10):
        chunks = http_chunks(client, prompt)
        if len(chunks) == count:
            return chunks
    raise AssertionError(f"ten answers in other than {count} chunks, the last in {len(chunks)}")


def test_a_role_comes_first_and_a_finish_reason_last(simulate: Simulate) -> None:
    answer = simulate().chat("one two three", stream=True)

    assert answer.headers["content-type"].startswith("text/event-stream")
    first, *middle, last = [chunk["choices"][0] for chunk in answer.chunks]
    assert first["delta"] == {"role": "assistant", "content": ""}
    assert [choice["delta"] for choice in middle] == [
        {"content": "one"},
        {"content": " two"},
        {"content": " three"},
    ]
    assert last["delta"] == {"content": ""}
    assert [choice["finish_reason"] for choice in (first, *middle, last)] == [None] * 4 + ["stop"]


def test_all_chunks_share_id_model_and_object(simulate: Simulate) -> None:
    chunks = simulate().chat("one two", stream=True).chunks

    assert {(chunk["id"], chunk["model"], chunk["object"]) for chunk in chunks} == {
        (chunks[0]["id"], "m", "chat.completion.chunk")
    }


def test_usage_comes_on_request_with_empty_choices(simulate: Simulate) -> None:
    client = simulate()

    *_, last = client.chat("one two", stream=True, stream_options={"include_usage": True}).chunks
    assert last["choices"] == []
    assert last["usage"] == {"prompt_tokens": 2, "completion_tokens": 2, "total_tokens": 4}
    assert all(chunk["choices"] for chunk in client.chat("one two", stream=True).chunks)


def test_plain_completions_stream_text(simulate: Simulate) -> None:
    chunks = simulate().complete("one two", stream=True).chunks

    assert [chunk["choices"][0]["text"] for chunk in chunks] == ["one", " two", ""]
    assert {chunk["object"] for chunk in chunks} == {"text_completion"}


def test_reasoning_comes_before_the_answer(simulate: Simulate) -> None:
    deltas = simulate(reasoning="let me see").chat("hi", stream=True).deltas

    keys = [key for delta in deltas[1:-1] for key in delta]
    assert keys == ["reasoning_content"] * 3 + ["content"]


def test_a_plain_completion_is_refused_in_its_text(simulate: Simulate) -> None:
    client = simulate(policy="refusal")
    text = client.complete("hi").json["choices"][0]["text"]

    assert "declines" in text
    assert "".join(chunk["choices"][0]["text"] for chunk in client.complete("hi", stream=True).chunks) == text


@pytest.mark.parametrize("fields", [{"max_tokens": 0}, {"stop": "one"}])
def test_an_empty_answer_still_ends_well(simulate: Simulate, fields: dict[str, Any]) -> None:
    answer = simulate().chat("one", stream=True, **fields)

    assert [delta.get("content") for delta in answer.deltas] == ["", ""]
    assert simulate().chat("one", **fields).text == ""


def test_tokens_that_are_due_apart_come_in_chunks_of_their_own(simulate: Simulate) -> None:
    client = simulate(first_token=Delay(mean_ms=5), between_tokens=Delay(mean_ms=5))

    chunks = undelayed_http_chunks(client, "one two three", 4)
    assert all(chunk.endswith(b"\n\n") for chunk in chunks)


def test_split_cuts_events_anywhere_but_loses_nothing(simulate: Simulate) -> None:
    delays = {"first_token": Delay(mean_ms=5), "between_tokens": Delay(mean_ms=5)}
    prompt = " ".join("äöü" * 3 for _ in range(20))
    parts = undelayed_http_chunks(simulate(split=True, **delays), prompt, 1 + 2 * 20)

    assert not any(part.endswith(b"\n\n") for part in parts[1::2])
    assert all(part.endswith(b"\n\n") for part in parts[2::2])
    assert len({len(part) for part in parts[1::2]}) > 5
    events = b"".join(parts).decode().split("\n\n")[:-2]
    deltas = [json.loads(event.removeprefix("data: "))["choices"][0]["delta"] for event in events]
    assert "".join(delta["content"] for delta in deltas) == prompt


def test_split_holds_for_whole_answers_too(simulate: Simulate) -> None:
    assert simulate(split=True).chat("one two").text == "one two"
