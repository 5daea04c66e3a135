"""The proxy server, at a Unix socket mounted in containers. The token in a request identifies the grant."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import AsyncExitStack
from http import HTTPStatus
from pathlib import Path

from benchwright.sandbox.egress import addresses
from benchwright.sandbox.egress.addresses import Connector, HostResolver, address_refusal_reason
from benchwright.sandbox.egress.client_hello import NoServerName, read_hello
from benchwright.sandbox.egress.grants import ConnectionEntry, ConnectionLog, Grant, TrialPhase
from benchwright.sandbox.egress.hosts import EgressPolicy
from benchwright.sandbox.egress.proxy_request_heads import (
    MAX_HEAD_BYTES,
    ProxyRequest,
    RequestRefused,
    parse_head,
    parse_request,
    parse_target_for_log,
    read_grant_token,
)
from benchwright.sandbox.egress.stream_copying import StreamPair, cancel_all, copy_both_ways, copy_response

SOCKET_NAME = "egress.sock"
REQUEST_HEAD_SECONDS = 15.0
"""Time limit in seconds for the head of a client's request, and also for the client's first TLS message."""
CONNECT_SECONDS = 20.0
MAX_CONNECTIONS_PER_GRANT = 128
"""Maximum number of connections per grant."""
MAX_UNIDENTIFIED_CONNECTIONS = 64
"""Maximum number of connections on which the client has not yet named its grant."""


class EgressProxy:
    """The egress proxy of one trial.

    It opens when its context is entered. Containers then mount `folder`, which contains the socket.
    `resolve`, `connect`: the functions through which it reaches the network. `traffic`: the log of
    connections.

    Raises (on entering):
        OSError: If the socket cannot be created.
    """

    def __init__(
        self, resolve: HostResolver = addresses.resolve_host, connect: Connector = addresses.connect
    ) -> None:
        self.folder = Path()
        self.traffic = ConnectionLog()
        self._resolve = resolve
        self._connect = connect
        self._grants: dict[str, Grant] = {}
        self._tasks: dict[asyncio.Task[None], Grant | None] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> EgressProxy:
        place = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="benchwright-egress-"))
        self.folder = Path(place)
        self.folder.chmod(0o755)  # the container's user may differ from ours
        self._stack.push_async_callback(self._end)
        server = await asyncio.start_unix_server(
            self._accept, self.folder / SOCKET_NAME, limit=MAX_HEAD_BYTES
        )
        self._stack.callback(server.close)
        (self.folder / SOCKET_NAME).chmod(0o666)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def open_grant(self, phase: TrialPhase, policy: EgressPolicy | None) -> Grant:
        """Create a grant for a phase of the trial. Every program that has its token may connect under the policy."""
        grant = Grant(phase, policy)
        self._grants[grant.token] = grant
        return grant

    async def revoke_grant(self, grant: Grant) -> None:
        """Revoke the grant and end its connections."""
        self._grants.pop(grant.token, None)
        await self.end_connections(grant)

    async def end_connections(self, grant: Grant) -> None:
        """End the connections of a grant. The grant stays valid."""
        await cancel_all([task for task, its in self._tasks.items() if its is grant])

    async def _end(self) -> None:
        await cancel_all(list(self._tasks))

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Start to serve a new connection.

        If too many connections have not named their grant, drop the oldest of them.
        """
        unknown = [task for task, grant in self._tasks.items() if grant is None]
        if len(unknown) >= MAX_UNIDENTIFIED_CONNECTIONS:
            unknown[0].cancel()
        task = asyncio.get_running_loop().create_task(self._answer(reader, writer))
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except RequestRefused as refused:
            _say(writer, refused)
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass  # either side closed the connection
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = parse_head(await _head(reader))
        grant = self._grants.get(read_grant_token(head))
        if grant is None:
            raise RequestRefused(407, "the token is missing, wrong, or of a phase that has ended")
        task = asyncio.current_task()
        assert task is not None, "a connection is answered by a task"
        self._tasks[task] = grant
        try:
            wanted = parse_request(head)
            found = await self._looked_up(grant, wanted)
        except RequestRefused as refused:
            self.traffic.add_connection(grant.phase, *parse_target_for_log(head.target), why=refused.why)
            raise
        entry = self.traffic.add_connection(grant.phase, wanted.host, wanted.port)
        began = time.monotonic()
        try:
            await self._pass_on(entry, wanted, found, (reader, writer))
        finally:
            entry.seconds = round(time.monotonic() - began, 3)

    async def _looked_up(self, grant: Grant, wanted: ProxyRequest) -> list[str]:
        """Return the addresses of the requested host. Return [] if the host cannot be resolved.

        All returned addresses are public addresses of other machines.

        Raises:
            RequestRefused: If the grant does not allow the host, or if one of its addresses is not allowed.
        """
        if sum(its is grant for its in self._tasks.values()) > MAX_CONNECTIONS_PER_GRANT:
            raise RequestRefused(429, "too many connections at once")
        if grant.policy is None:
            raise RequestRefused(403, "there is no network in this phase")
        if why := grant.policy.refusal_reason(wanted.host, wanted.port, tunnel=wanted.is_tunnel):
            raise RequestRefused(403, why)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                found = await self._resolve(wanted.host, wanted.port)
        except (OSError, TimeoutError, UnicodeError):
            return []
        if why := next(filter(None, map(address_refusal_reason, found)), None):
            raise RequestRefused(403, why)
        return found

    async def _pass_on(
        self, entry: ConnectionEntry, wanted: ProxyRequest, found: list[str], client: StreamPair
    ) -> None:
        reader, writer = client
        upstream = await self._connected(entry, found, wanted.port)
        try:
            if wanted.head is None:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                hello = await _hello(entry, reader, wanted.host)
                if hello is None:
                    return
                upstream[1].write(hello)
                entry.sent += len(hello)
                await copy_both_ways(entry, client, upstream)
            else:
                upstream[1].write(wanted.head)
                entry.sent += len(wanted.head)
                await copy_response(entry, client, upstream)
        finally:
            upstream[1].close()

    async def _connected(self, entry: ConnectionEntry, found: list[str], port: int) -> StreamPair:
        """Connect to the first address that accepts, and return the connection's streams.

        Raises:
            RequestRefused: If no address accepts.
        """
        why = "its name cannot be resolved" if not found else ""
        for address in found:
            try:
                async with asyncio.timeout(CONNECT_SECONDS):
                    return await self._connect(address, port)
            except (OSError, TimeoutError) as error:
                why = (
                    f"{address} cannot be reached: {getattr(error, 'strerror', None) or 'no answer in time'}"
                )
        entry.why = why
        raise RequestRefused(502, f"{entry.host}: {why}")


async def _head(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(REQUEST_HEAD_SECONDS):
            return await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise RequestRefused(431, f"the head of a request may have {MAX_HEAD_BYTES} bytes") from None
    except TimeoutError:
        raise RequestRefused(408, f"the head of a request may take {REQUEST_HEAD_SECONDS:g} s") from None


async def _hello(entry: ConnectionEntry, reader: asyncio.StreamReader, host: str) -> bytes | None:
    """Return the first TLS message of a client if it names `host` as its server.

    Otherwise log the connection as refused, and return None.
    """
    try:
        async with asyncio.timeout(REQUEST_HEAD_SECONDS):
            raw, named = await read_hello(reader)
    except NoServerName as problem:
        entry.allowed, entry.why = False, str(problem)
        return None
    if named != host:
        entry.allowed, entry.why = False, f"TLS names another server: {named[:253]}"
        return None
    return raw


def _say(writer: asyncio.StreamWriter, refused: RequestRefused) -> None:
    text = f"benchwright: {refused.why}\n".encode()
    lines = [
        f"HTTP/1.1 {refused.status} {HTTPStatus(refused.status).phrase}",
        "Connection: close",
        "Content-Type: text/plain; charset=utf-8",
        f"Content-Length: {len(text)}",
        *(['Proxy-Authenticate: Basic realm="benchwright"'] if refused.status == 407 else []),
    ]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + text)
