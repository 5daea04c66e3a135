"""Records what real servers send, byte for byte, and what parsers other than ours make of it.

Run it where the OpenAI SDK, h11 and httpx-sse are installed (not in the project's own environment), beside a
server that README.md says how to start:

    python -m tests.recordings.record litellm 1.106.2 http://127.0.0.1:4000

`<server>/<case>.http` holds the bytes that came over one connection, `<case>.json` the requests and what the
other parsers read from those very bytes.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
from tests.recordings.cases import Case, cases_of
from tests.recordings.other_parsers import events_in, read_by_sdk


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
