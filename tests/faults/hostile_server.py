"""A server on raw sockets whose answers never end, each in a way of its own."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import repeat

from tests.endpoint.http_kit import completion, delta, event, head

STREAM = head("Content-Type: text/event-stream", "Transfer-Encoding: chunked")
WHOLE = head("Content-Type: application/json", "Transfer-Encoding: chunked")
HELLO = event(delta(content="Hel")) + event(delta("stop", content="lo")) + event(b"[DONE]")


def chunk(piece: bytes) -> bytes:
    """A chunk of the transfer coding."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def _tool_call(arguments: str) -> bytes:
    return event(delta(tool_calls=[{"index": 0, "function": {"name": "", "arguments": arguments}}]))


BEGINNINGS = {"silence after a token": chunk(event(delta(content="Hel")))}
"""What comes before that which is repeated for ever."""

STREAMED: dict[str, bytes] = {
    "silence": b"",
    "silence after a token": b"",
    "comments": chunk(b": keep-alive\n\n"),
    "bytes of an unfinished line": chunk(b"x"),
    "empty deltas": chunk(event(delta(content=""))),
    "role deltas": chunk(event(delta(role="assistant"))),
    "empty tool calls": chunk(_tool_call("")),
}
"""What is sent again and again after the head of a stream, by its name; none of it is a token."""

UNSTREAMED: dict[str, bytes] = {
    "silence": b"",
    "white space": chunk(b" \n"),
    "bytes of an unfinished line": chunk(b"{"),
}
"""The same after the head of a whole answer."""

TRAILERS = b"X-More: and more\r\n"
ENDS = {True: chunk(HELLO) + b"0\r\n", False: chunk(json.dumps(completion("Hello")).encode()) + b"0\r\n"}
"""All of a streamed or of a whole answer, but the end of its trailers."""

TOKENS = chunk(event(delta(content="x")))
FLOODS = {
    "content": chunk(event(delta(content="x" * 1000))),
    "tool calls": chunk(_tool_call("x" * 1000)),
    "whole": chunk(b"x" * 1000),
}
"""Tokens as fast as they are taken."""


class HostileServer:
    """Answers every request by `opening` and then by `endless`, again and again, every `pause` seconds."""

    def __init__(self, opening: bytes, endless: bytes, pause: float) -> None:
        self.requests = 0
        self._pieces = (opening, endless)
        self._pause = pause
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        """Ends all connections."""
        self._closed.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                thread = threading.Thread(target=self._serve, args=[connection])
                self._threads.append(thread)
                thread.start()

    def _serve(self, connection: socket.socket) -> None:
        opening, endless = self._pieces
        with connection, suppress(OSError):
            _read_request(connection)
            self.requests += 1
            connection.sendall(opening)
            for piece in repeat(endless):
                if self._closed.wait(self._pause):
                    return
                connection.sendall(piece)


@contextmanager
def hostile(opening: bytes, endless: bytes, pause: float = 0.01) -> Iterator[HostileServer]:
    """A server, see `HostileServer`."""
    server = HostileServer(opening, endless, pause)
    try:
        yield server
    finally:
        server.close()


def _read_request(connection: socket.socket) -> None:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            raise ConnectionResetError
        received += piece
    lines, _, body = received.partition(b"\r\n\r\n")
    (length,) = (line[16:] for line in lines.split(b"\r\n") if line.lower().startswith(b"content-length:"))
    while len(body) < int(length):
        body += connection.recv(65536)
