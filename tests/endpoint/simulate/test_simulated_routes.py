"""The routes of the simulated endpoint, and the HTTP around them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.endpoint.simulate.simulate_kit import Simulate

from benchwright.endpoint.simulate import Settings, SimulatedEndpoint
from benchwright.errors import UserError

QUESTION = {"model": "m", "messages": [{"role": "user", "content": "one two three"}]}


def test_chat_completion_has_the_openai_shape(simulate: Simulate) -> None:
    answer = simulate().chat("one two three").json

    assert answer["object"] == "chat.completion"
    assert answer["model"] == "m"
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "one two three"}
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6}


def test_plain_completion_has_the_openai_shape(simulate: Simulate) -> None:
    answer = simulate().complete("one two").json

    assert answer["object"] == "text_completion"
    assert answer["choices"][0]["text"] == "one two"


@pytest.mark.parametrize("prompt", [["one two"], [[11, 22]], [11, 22]])
def test_a_prompt_may_be_a_list_of_one_or_of_token_ids(simulate: Simulate, prompt: list[Any]) -> None:
    assert simulate().complete(prompt).json["usage"]["prompt_tokens"] == 2


def test_several_prompts_are_refused(simulate: Simulate) -> None:
    answer = simulate().complete(["one", "two"])

    assert answer.status == 400
    assert "$.prompt" in answer.json["error"]["message"]


def test_models_lists_what_is_served(simulate: Simulate) -> None:
    models = simulate(models=("small", "large")).ask("GET", "/v1/models").json

    assert [model["id"] for model in models["data"]] == ["small", "large"]


def test_gemini_is_asked_at_its_own_addresses(simulate: Simulate) -> None:
    client = simulate(models=("small",), api_key="right")
    asked = {"contents": [{"parts": [{"text": "one two three"}]}]}

    models = client.ask("GET", "/v1beta/models?key=right").json
    answer = client.ask("POST", "/v1beta/models/small:generateContent?key=right", asked).json
    count = client.ask("POST", "/v1beta/models/small:countTokens?key=right", asked).json
    missing = client.ask("POST", "/v1beta/models/large:generateContent?key=right", asked).json
    refused = client.ask("POST", "/v1beta/models/small:generateContent?key=wrong", asked).json

    assert [model["name"] for model in models["models"]] == ["models/small"]
    assert answer["candidates"][0]["content"] == {"role": "model", "parts": [{"text": "one two three"}]}
    tokens = {"promptTokenCount": 3, "candidatesTokenCount": 3, "totalTokenCount": 6}
    assert answer["usageMetadata"] == tokens
    assert count == {"totalTokens": 3}
    assert (missing["error"]["status"], refused["error"]["status"]) == ("NOT_FOUND", "UNAUTHENTICATED")


def test_every_response_says_that_it_is_simulated(simulate: Simulate) -> None:
    client = simulate()

    for answer in (client.chat("hi"), client.ask("GET", "/v1/models"), client.ask("GET", "/nowhere")):
        assert answer.headers["x-benchwright-simulated"] == "1"
    assert client.chat("hi").json["system_fingerprint"] == "benchwright-simulated"
    assert all(
        chunk["system_fingerprint"] == "benchwright-simulated"
        for chunk in client.chat("hi", stream=True).chunks
    )


def test_unknown_model_is_not_found(simulate: Simulate) -> None:
    client = simulate(models=("small",))

    error = client.chat("hi")
    assert error.status == 404
    assert error.json["error"]["code"] == "model_not_found"
    assert client.ask("POST", "/v1/chat/completions", {**QUESTION, "model": "small"}).status == 200


def test_wrong_or_missing_key_is_unauthorised(simulate: Simulate) -> None:
    client = simulate(api_key="right")

    assert client.chat("hi").status == 401
    assert client.chat("hi", {"Authorization": "Bearer wrong"}).json["error"]["code"] == "invalid_api_key"
    assert client.chat("hi", {"Authorization": "Bearer right"}).status == 200


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        (b"{", "truncated"),
        (b"[]", "object"),
        (b"{}", "messages"),
        (b'{"messages": []}', "at least one message"),
        (b'{"messages": [{"role": "user", "content": 5}]}', "$.messages[0].content"),
        (b'{"messages": [{"role": "user"}], "max_tokens": -1}', "max_tokens"),
    ],
)
def test_bad_request_says_what_is_wrong(simulate: Simulate, body: bytes, hint: str) -> None:
    answer = simulate().ask("POST", "/v1/chat/completions", body)

    assert answer.status == 400
    assert hint in answer.json["error"]["message"]
    assert answer.json["error"]["type"] == "invalid_request_error"


def test_unknown_path_and_wrong_method(simulate: Simulate) -> None:
    client = simulate()

    assert client.ask("GET", "/nowhere").status == 404
    answer = client.ask("GET", "/v1/chat/completions")
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


def test_tokenize_counts_as_usage_does(simulate: Simulate) -> None:
    client = simulate()

    tokens = client.ask("POST", "/tokenize", {"model": "m", "prompt": "one two three"}).json
    assert tokens["count"] == len(tokens["tokens"]) == 3
    chat = client.ask("POST", "/tokenize", QUESTION).json
    assert chat["count"] == client.chat("one two three").json["usage"]["prompt_tokens"]


def test_metrics_count_what_was_answered(simulate: Simulate) -> None:
    client = simulate()
    client.chat("one two three")
    client.chat("one two three", max_tokens=2)

    page = client.ask("GET", "/metrics").body.decode()
    samples = dict(re.findall(r"^([^#\s]\S*) (\S+)$", page, re.MULTILINE))
    label = '{model_name="simulated"}'
    assert samples["vllm:num_requests_running" + label] == "0"
    assert samples["vllm:prompt_tokens_total" + label] == "6"
    assert samples["vllm:generation_tokens_total" + label] == "5"
    assert samples['vllm:request_success_total{finished_reason="length",model_name="simulated"}'] == "1"
    assert samples["vllm:time_to_first_token_seconds_count" + label] == "2"
    assert samples['vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="simulated"}'] == "2"
    assert samples["benchwright_simulated_answered_total"] == "2"


def test_a_model_name_cannot_break_the_metrics_page(simulate: Simulate) -> None:
    page = simulate(models=('a"b\\c\nd',)).ask("GET", "/metrics").body.decode()

    assert 'vllm:num_requests_running{model_name="a\\"b\\\\c\\nd"} 0' in page.split("\n")


def test_connection_is_kept_alive(simulate: Simulate) -> None:
    client = simulate()
    client.chat("hi")
    before = client.connection.sock
    client.chat("hi", stream=True)

    assert client.connection.sock is before


def test_request_body_may_come_in_chunks_and_in_single_bytes(simulate: Simulate) -> None:
    client = simulate()
    body = json.dumps(QUESTION).encode()
    chunked = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:7], body[7:])) + b"0\r\n\r\n"
    request = client.request_bytes(chunked, "Transfer-Encoding: chunked", "Connection: close")
    with client.open_socket() as connection:
        for byte in request:
            connection.sendall(bytes([byte]))
        response = client.read_to_end(connection)

    assert b'"content":"one two three"' in response


def test_expectation_of_100_continue_is_met_before_the_body(simulate: Simulate) -> None:
    client = simulate()
    body = json.dumps(QUESTION).encode()
    head = client.request_bytes(
        b"", f"Content-Length: {len(body)}", "Expect: 100-continue", "Connection: close"
    )
    with client.open_socket() as connection:
        connection.sendall(head)
        assert connection.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(body)
        assert client.read_to_end(connection).startswith(b"HTTP/1.1 200 OK\r\n")


def test_http_1_0_gets_a_stream_that_ends_with_the_connection(simulate: Simulate) -> None:
    client = simulate()
    body = json.dumps({**QUESTION, "stream": True}).encode()
    request = client.request_bytes(body, f"Content-Length: {len(body)}").replace(b"HTTP/1.1", b"HTTP/1.0")
    with client.open_socket() as connection:
        connection.sendall(request)
        head, _, stream = client.read_to_end(connection).partition(b"\r\n\r\n")

    assert b"transfer-encoding" not in head
    assert stream.startswith(b"data: ")
    assert stream.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("announced", ["Content-Length: 67108865", "Transfer-Encoding: chunked"])
def test_a_body_that_is_too_large_is_refused(simulate: Simulate, announced: str) -> None:
    client = simulate()
    with client.open_socket() as connection:
        connection.sendall(client.request_bytes(b"", announced))
        if "chunked" in announced:
            chunk = b"1000000\r\n" + bytes(0x1000000) + b"\r\n"
            for _ in range(5):
                connection.sendall(chunk)
        assert client.read_to_end(connection).startswith(b"HTTP/1.1 413 ")


def test_what_is_no_http_is_refused(simulate: Simulate) -> None:
    client = simulate()
    with client.open_socket() as connection:
        connection.sendall(b"hello?\r\n\r\n")
        assert client.read_to_end(connection).startswith(b"HTTP/1.1 400 ")


def test_a_request_ahead_of_its_turn_ends_the_connection(simulate: Simulate) -> None:
    client = simulate()
    body = json.dumps(QUESTION).encode()
    request = client.request_bytes(body, f"Content-Length: {len(body)}")
    with client.open_socket() as connection:
        connection.sendall(request + request)
        assert client.read_to_end(connection).startswith(b"HTTP/1.1 400 ")


def test_request_id_comes_back(simulate: Simulate) -> None:
    assert simulate().chat("hi", {"X-Request-Id": "abc"}).headers["x-request-id"] == "abc"


async def test_an_address_that_is_taken_is_a_user_error() -> None:
    async with SimulatedEndpoint() as endpoint:
        port = int(endpoint.base_url.rpartition(":")[2].removesuffix("/v1"))
        with pytest.raises(UserError, match=f"port {port}"):
            async with SimulatedEndpoint(Settings(), port=port):
                pass


async def test_ipv6_addresses_stand_in_brackets() -> None:
    async with SimulatedEndpoint(host="::1") as endpoint:
        assert endpoint.base_url.startswith("http://[::1]:")
