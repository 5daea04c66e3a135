"""Records what real servers send, byte for byte, and what parsers other than ours make of it.

Run it where the OpenAI SDK, h11 and httpx-sse are installed (not in the project's own environment), beside a
server that README.md says how to start:

    python tests/recordings/record.py litellm 1.106.2 http://127.0.0.1:4000

`<server>/<case>.http` holds the bytes that came over one connection, `<case>.json` the requests and what the
other parsers read from those very bytes.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
import httpx
from cases import CHAT, KEY, Case, cases_of
from httpx_sse import EventSource
from openai import OpenAI
from openai.lib.streaming.chat import ChatCompletionStreamState


class Asker:
    """One kept-alive connection to a server."""

    def __init__(self, base_url: str) -> None:
        server = urlsplit(base_url)
        assert server.hostname is not None
        self._host = f"{server.hostname}:{server.port}"
        self._socket = socket.create_connection((server.hostname, server.port or 80))
        self._http = h11.Connection(h11.CLIENT)

    def ask(self, case: Case) -> tuple[bytes, h11.Response, bytes]:
        """Sends one request; the answer as it came, its head, and its body without transfer coding."""
        content = case.content.encode()
        headers = [
            ("Host", self._host),
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(content))),
        ]
        if case.key:
            headers.append(("Authorization", f"Bearer {case.key}"))
        self._send(h11.Request(method=case.method, target=case.path, headers=headers))
        self._send(h11.Data(data=content))
        self._send(h11.EndOfMessage())
        received = bytearray()
        head, body = self._next(received), b""
        while isinstance(part := self._next(received), h11.Data):
            body += part.data
        self._http.start_next_cycle()
        return bytes(received), head, body

    def _send(self, event: Any) -> None:
        self._socket.sendall(self._http.send(event) or b"")

    def _next(self, received: bytearray) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            data = self._socket.recv(65536)
            received += data
            self._http.receive_data(data)
        return event

    def close(self) -> None:
        self._socket.close()


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


def record(cases: list[Case], base_url: str) -> tuple[bytes, list[dict[str, Any]]]:
    """Asks one case after the other on one connection; all bytes received, and what was read from them."""
    asker, received, exchanges = Asker(base_url), b"", []
    for case in cases:
        answer, head, body = asker.ask(case)
        received += answer
        expected: dict[str, Any] = {"status": head.status_code, "size": len(answer)}
        if dict(head.headers)[b"content-type"].startswith(b"text/event-stream"):
            data = events_in(body)
            expected["done"] = bool(data) and data[-1] == "[DONE]"
            expected["data" if case.plain else "events"] = data if case.plain else len(data)
        elif case.plain:
            expected["body"] = body.decode()
        if not case.plain:
            expected |= read_by_sdk(case, answer)
        request = {"method": case.method, "path": case.path, "body": case.body}
        exchanges.append({"request": request, "expected": expected})
    asker.close()
    return received, exchanges


def main(server: str, version: str, base_url: str) -> None:
    """Records every case of a server into the folder of its name."""
    folder = Path(__file__).parent / server
    folder.mkdir(exist_ok=True)
    for name, cases in cases_of(server).items():
        received, exchanges = record(cases, base_url)
        (folder / f"{name}.http").write_bytes(received)
        facts = {"server": server, "version": version, "exchanges": exchanges}
        text = json.dumps(facts, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
        print(f"{name}: {len(received)} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
