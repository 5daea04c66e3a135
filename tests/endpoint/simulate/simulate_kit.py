"""A simulated endpoint in a thread of its own, asked with nothing but the standard library."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from benchwright.endpoint.simulate import EndpointStats, Settings, SimulatedEndpoint, TruthRecord

T = TypeVar("T")


class Answer:
    """A response: status, headers, the body, its JSON, and its events if it was a stream."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> dict[str, Any]:
        message: dict[str, Any] = self.json["choices"][0]["message"]
        return message

    @property
    def text(self) -> str:
        text: str = self.message["content"]
        return text

    @property
    def events(self) -> list[str]:
        *events, rest = self.body.decode().split("\n\n")
        assert rest == ""
        assert all(event.startswith("data: ") for event in events)
        return [event.removeprefix("data: ") for event in events]

    @property
    def chunks(self) -> list[Any]:
        *chunks, done = self.events
        assert done == "[DONE]"
        return [json.loads(chunk) for chunk in chunks]

    @property
    def deltas(self) -> list[dict[str, Any]]:
        return [chunk["choices"][0]["delta"] for chunk in self.chunks if chunk["choices"]]


class Client:
    """Asks an endpoint over one kept-alive connection."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        encoded = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, path, encoded, headers or {})
        return Answer(self.connection.getresponse())

    def chat(self, prompt: str, headers: dict[str, str] | None = None, **fields: Any) -> Answer:
        messages = [{"role": "user", "content": prompt}]
        return self.ask(
            "POST", "/v1/chat/completions", {"model": "m", "messages": messages, **fields}, headers
        )

    def complete(self, prompt: Any, **fields: Any) -> Answer:
        return self.ask("POST", "/v1/completions", {"model": "m", "prompt": prompt, **fields})

    def open_socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=10)

    @staticmethod
    def request_bytes(body: bytes, *headers: str) -> bytes:
        """A chat request, byte for byte."""
        lines = ["POST /v1/chat/completions HTTP/1.1", "Host: test", *headers, "", ""]
        return "\r\n".join(lines).encode() + body

    @staticmethod
    def read_to_end(connection: socket.socket) -> bytes:
        """Everything the endpoint sends until it closes."""
        pieces = []
        while piece := connection.recv(65536):
            pieces.append(piece)
        return b"".join(pieces)


class Asked:
    """A chat request that is under way on a connection of its own."""

    def __init__(self, port: int, prompt: str, name: str, fields: dict[str, Any]) -> None:
        self._answers: list[Answer] = []

        def ask() -> None:
            client = Client(port)
            self._answers.append(client.chat(prompt, {"X-Request-Id": name}, **fields))
            client.connection.close()

        self._thread = threading.Thread(target=ask)
        self._thread.start()

    @property
    def answer(self) -> Answer:
        """The answer, waited for."""
        self._thread.join(20)
        (answer,) = self._answers
        return answer


class Served(Client):
    """An endpoint in a thread, so that a test can use blocking calls, and a client that asks it."""

    def __init__(self, settings: Settings) -> None:
        self.endpoint = SimulatedEndpoint(settings)
        self._started = threading.Event()
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),))
        self._thread.start()
        assert self._started.wait(10)
        super().__init__(int(self.endpoint.base_url.rpartition(":")[2].removesuffix("/v1")))

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopped = asyncio.Event()
        async with self.endpoint:
            self._started.set()
            await self._stopped.wait()

    @property
    def log(self) -> list[TruthRecord]:
        return self._in_loop(lambda: self.endpoint.log)

    @property
    def stats(self) -> EndpointStats:
        return self._in_loop(lambda: self.endpoint.stats)

    def truth(self, name: str) -> TruthRecord:
        """What the endpoint noted of the request of this id."""
        (truth,) = [truth for truth in self.log if truth.id == name]
        return truth

    def start(self, prompt: str, name: str = "", **fields: Any) -> Asked:
        """Sends a chat request without waiting for the answer, and waits until it has come in."""
        before = self.stats.requests
        asked = Asked(self.port, prompt, name, fields)
        self.wait_until(lambda stats: stats.requests > before)
        return asked

    @contextmanager
    def asking(self, prompt: str, name: str = "", **fields: Any) -> Iterator[None]:
        """Sends a streamed chat request, and leaves without the rest of the answer when the block ends."""
        before = self.stats
        messages = [{"role": "user", "content": prompt}]
        body = json.dumps({"messages": messages, "stream": True, **fields}).encode()
        with self.open_socket() as connection:
            headers = (f"Content-Length: {len(body)}", f"X-Request-Id: {name}")
            connection.sendall(self.request_bytes(body, *headers))
            self.wait_until(lambda stats: stats.requests > before.requests)
            yield
        self.wait_until(lambda stats: stats.running <= before.running)

    def wait_until(self, condition: Callable[[EndpointStats], bool]) -> None:
        """Waits until the statistics are as they should be."""
        deadline = time.monotonic() + 20
        while not condition(self.stats):
            assert time.monotonic() < deadline, f"waited in vain: {self.stats}"
            time.sleep(0.005)

    def metrics(self) -> dict[str, float]:
        """The samples of /metrics that have no label but the model's name."""
        page = self.ask("GET", "/metrics").body.decode()
        found = re.findall(r"^([^#\s{]+)(?:\{model_name=\"[^\"]*\"\})? (\S+)$", page, re.MULTILINE)
        return {name: float(value) for name, value in found}

    def _in_loop(self, look: Callable[[], T]) -> T:
        """Looks between two steps of the endpoint, so that what was sent is also noted."""

        async def looked() -> T:
            return look()

        return asyncio.run_coroutine_threadsafe(looked(), self._loop).result(10)

    def stop(self) -> None:
        self.connection.close()
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stopped.set)
            self._thread.join(10)
        assert not self._thread.is_alive()


Simulate = Callable[..., Served]
"""Starts an endpoint with the settings given, as keywords or whole; the fixture `simulate`."""
