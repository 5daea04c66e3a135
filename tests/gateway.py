"""A gateway in front of a model that says what it is asked: it wants headers, and notes all that it gets."""

from __future__ import annotations

import json
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from email.message import Message
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.http_server import QuietHandler


class Noted(NamedTuple):
    """A request: its path, its headers (names in lower case), and the fields of its body."""

    path: str
    headers: dict[str, str]
    fields: frozenset[str] = frozenset()


class Gateway:
    """Where it is, and what it was asked. `refused` are requests that lacked one of the headers."""

    def __init__(self) -> None:
        self.base_url = ""
        self.noted: list[Noted] = []
        self.refused: list[Noted] = []


@contextmanager
def gateway(
    wanted: Mapping[str, str],
    *,
    strict: Sequence[str] = (),
    socket: Path | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Gateway]:
    """Starts a gateway that wants these headers. Fields named in `strict` it does not take.

    It listens at a free port, or at a Unix `socket`; with `tls` it is encrypted.
    """
    gateway = Gateway()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            if self._lets_in(frozenset()):
                self.answer(200, b'{"object": "list", "data": [{"id": "m"}]}')

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])) or b"{}")
            if not self._lets_in(frozenset(body)):
                return
            if refused := next((name for name in strict if name in body), None):
                error = {"error": {"message": f"Unrecognized request argument supplied: {refused}"}}
                self.answer(400, json.dumps(error).encode())
                return
            text = body["messages"][-1]["content"] if body.get("messages") else ""
            message = {"role": "assistant", "content": text}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            self.answer(200, json.dumps({"choices": [choice], "usage": usage}).encode())

        def _lets_in(self, fields: frozenset[str]) -> bool:
            noted = Noted(self.path, _lower(self.headers), fields)
            missing = [name for name, value in wanted.items() if noted.headers.get(name.lower()) != value]
            (gateway.refused if missing else gateway.noted).append(noted)
            if missing:
                got = {name: noted.headers.get(name.lower()) for name in missing}
                self.answer(400, json.dumps({"error": {"message": f"header is wrong: {got}"}}).encode())
            return not missing

        def address_string(self) -> str:
            return "client"

    server: socketserver.BaseServer
    if socket is not None:
        server = _UnixServer(str(socket), Handler)
        gateway.base_url = f"unix://{socket}"
    else:
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        gateway.base_url = f"http{'' if tls is None else 's'}://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def _lower(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
