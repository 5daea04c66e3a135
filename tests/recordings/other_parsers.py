"""What parsers that nobody here wrote make of a recorded answer: the OpenAI SDK and httpx-sse."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from httpx_sse import EventSource
from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState
from tests.recordings.cases import CHAT, KEY, Case


@contextmanager
def replayed(answer: bytes) -> Iterator[OpenAI]:
    """An SDK client whose server gives the recorded answer, whatever it is asked."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(answer)
                while connection.recv(65536):
                    pass

        server = threading.Thread(target=serve)
        server.start()
        with OpenAI(
            base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", api_key=KEY, max_retries=0
        ) as sdk:
            yield sdk
        server.join()


def read_by_sdk(case: Case, answer: bytes) -> dict[str, Any]:
    """What the SDK makes of a completion."""
    with replayed(answer) as sdk:
        if case.path == CHAT:
            parsed: Any = sdk.chat.completions.create(**case.body)
        else:
            parsed = sdk.completions.create(**case.body)
        if not case.body.get("stream"):
            return whole(parsed.model_dump())
        return whole_of_chat(list(parsed)) if case.path == CHAT else whole_of_texts(list(parsed))


def whole_of_chat(chunks: list[Any]) -> dict[str, Any]:
    """Chat completion chunks put together by the SDK's own assembler.

    It strings the pieces of every field together; id and name of a tool call are those of its first piece,
    because one server repeats them in each.
    """
    state: Any = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    answer = whole(state.current_completion_snapshot.model_dump())
    fields = [chunk.model_dump() for chunk in chunks]
    choices = [choice for chunk in fields for choice in chunk["choices"]]
    pieces = [piece for choice in choices for piece in choice["delta"].get("tool_calls") or []]
    for piece in reversed(pieces):
        if piece["id"]:
            answer["tool_calls"][piece["index"]] |= {"id": piece["id"], "name": piece["function"]["name"]}
    return {**answer, "chunks": sum(map(carries_token, fields))}


def whole_of_texts(chunks: list[Any]) -> dict[str, Any]:
    """Completion chunks put together; the SDK has no assembler for them."""
    fields = [chunk.model_dump() for chunk in chunks]
    choices = [choice for chunk in fields for choice in chunk["choices"]]
    logprobs = [token for choice in choices for token in (choice.get("logprobs") or {}).get("tokens") or []]
    joined = {
        "text": "".join(choice["text"] or "" for choice in choices),
        "finish_reason": next(filter(None, (choice["finish_reason"] for choice in choices)), None),
        "logprobs": {"tokens": logprobs} if logprobs else None,
    }
    usage = next(filter(None, (chunk["usage"] for chunk in fields)), None)
    return {**whole({"choices": [joined], "usage": usage}), "chunks": sum(map(carries_token, fields))}


def carries_token(chunk: dict[str, Any]) -> bool:
    """Whether a chunk holds a piece of reasoning, answer or tool call."""
    choice = (chunk["choices"] or [{}])[0]
    delta = choice.get("delta") or {}
    pieces = [choice.get("text"), delta.get("content"), delta.get("reasoning_content"), delta.get("refusal")]
    for call in delta.get("tool_calls") or []:
        pieces += [call["function"]["name"], call["function"]["arguments"]]
    return any(pieces)


def whole(answer: dict[str, Any]) -> dict[str, Any]:
    """The fields that the tests compare, of a completion as the SDK parsed it."""
    choice = answer["choices"][0]
    message = choice.get("message") or {"content": choice.get("text")}
    usage = answer.get("usage") or {}
    logprobs = choice.get("logprobs") or {}
    return {
        "text": message.get("content") or "",
        "reasoning": message.get("reasoning_content") or "",
        "tool_calls": [
            {"id": call["id"], "name": call["function"]["name"], "arguments": call["function"]["arguments"]}
            for call in message.get("tool_calls") or []
        ],
        "finish_reason": choice["finish_reason"],
        "usage": {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")},
        "logprob_tokens": [item["token"] for item in logprobs.get("content") or []] or logprobs.get("tokens"),
    }


def events_in(body: bytes) -> list[str]:
    """The data of a stream's events, by httpx-sse."""
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=body)
    return [event.data for event in EventSource(response).iter_sse()]
