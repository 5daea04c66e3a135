"""A hub on this machine: what huggingface_hub asks of the real one, over HTTP, with faults on demand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import quote, unquote

COMMIT = "c" * 40
NEWER = "d" * 40


class LoopbackHub:
    """One repository, of a dataset or another `kind`, whose large files come from another host, as on the real hub."""

    def __init__(self, files: dict[str, bytes], commit: str = COMMIT, repository: str = "O/N") -> None:
        self.repository = repository
        self.kind = "dataset"
        self.commits = {commit: files}
        self.newest = commit
        self.needs_token: str | None = None
        self.refusal: int | None = None
        self.silent = False
        self.garbage = False
        self.cut_transfers = 0
        self.ignores_ranges = False
        self.corrupts = False
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.released = Event()
        self.endpoint = ""

    def is_asked(self, path: str) -> bool:
        """Whether a path names the repository or one of its commits."""
        return self.repository in path or any(commit in path for commit in self.commits)

    def paths(self) -> list[str]:
        """What was asked, in order."""
        return [path for path, _ in self.requests]


@contextmanager
def serving(hub: LoopbackHub, *more: LoopbackHub) -> Iterator[LoopbackHub]:
    """Serves the hub on a free port, and the repositories of `more` too."""
    handler = type("Handler", (_Handler,), {"hub": hub, "hubs": (*more, hub)})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        for one in (hub, *more):
            one.endpoint = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            hub.released.set()
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: LoopbackHub
    hubs: tuple[LoopbackHub, ...]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        hub = self.hub = next((hub for hub in self.hubs if hub.is_asked(self.path)), self.hub)
        path = unquote(self.path.partition("?")[0])
        described = f"/api/{hub.kind}s/{hub.repository}"
        resolved = f"{'/datasets' if hub.kind == 'dataset' else ''}/{hub.repository}/resolve/"
        hub.requests.append((path, {name.lower(): value for name, value in self.headers.items()}))
        if hub.silent:
            hub.released.wait(30)
            self.close_connection = True
        elif hub.garbage:
            self._send(200, b"<html>Please log in to this hotel's network</html>")
        elif path.startswith(described):
            self._describe(path.removeprefix(described).removeprefix("/revision/"))
        elif path.startswith(resolved):
            self._resolve(*path.removeprefix(resolved).split("/", 1))
        elif path.startswith("/store/"):
            self._bytes(*path.removeprefix("/store/").split("/", 1))
        else:
            self._send(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _describe(self, revision: str) -> None:
        commit = self.hub.newest if revision in ("", "main") else revision
        if self.hub.refusal:
            self._send(self.hub.refusal, b"{}")
        elif commit not in self.hub.commits:
            self._send(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        else:
            siblings = [_sibling(name, content) for name, content in self.hub.commits[commit].items()]
            self._send(
                200, json.dumps({"id": self.hub.repository, "sha": commit, "siblings": siblings}).encode()
            )

    def _resolve(self, commit: str, name: str) -> None:
        hub = self.hub
        if hub.needs_token and self.headers.get("Authorization") != f"Bearer {hub.needs_token}":
            status = 403 if "Authorization" in self.headers else 401
            self._send(status, b"{}", {"X-Error-Code": "GatedRepo"})
        elif name not in hub.commits.get(commit, {}):
            self._send(404, b"{}", {"X-Error-Code": "EntryNotFound"})
        elif _is_large(name):
            other_host = hub.endpoint.replace("127.0.0.1", "localhost")
            location = f"{other_host}/store/{commit}/{quote(name)}"
            self._send(302, b"", {"Location": location, "X-Repo-Commit": commit})
        else:
            self._bytes(commit, name)

    def _bytes(self, commit: str, name: str) -> None:
        hub = self.hub
        content = hub.commits[commit][name]
        if hub.corrupts:
            content = bytes([content[0] ^ 1]) + content[1:]
        headers = {"ETag": f'"{sha256(content).hexdigest()}"', "X-Repo-Commit": commit}
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
        status = 200
        if start and not hub.ignores_ranges:
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            content = content[start:]
        if hub.cut_transfers:
            hub.cut_transfers -= 1
            self._send(status, content, headers, sent=len(content) // 2)
            self.close_connection = True
        else:
            self._send(status, content, headers)

    def _send(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, sent: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:sent])

    def log_message(self, format: str, *args: object) -> None:
        pass


def _is_large(name: str) -> bool:
    return name.endswith((".parquet", ".jsonl"))


def _sibling(name: str, content: bytes) -> dict[str, object]:
    described: dict[str, object] = {"rfilename": name, "size": len(content), "blobId": "b" * 40}
    if _is_large(name):
        lfs = {"sha256": sha256(content).hexdigest(), "size": len(content), "pointerSize": 130}
        described["lfs"] = lfs
    return described
