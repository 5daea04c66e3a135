"""The proxy against hostile clients and names: what is not on its list, or can be read in two ways, leads nowhere."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from tests.sandbox.egress.outside import PUBLIC, Outside, WebServer, serving

from benchwright.sandbox.egress import ConnectionEntry, EgressPolicy, EgressProxy, Grant
from benchwright.sandbox.egress import proxy as proxy_module
from benchwright.sandbox.egress.addresses import address_refusal_reason
from benchwright.sandbox.egress.grants import MAX_LOGGED_CONNECTIONS, ConnectionLog
from benchwright.sandbox.egress.proxy import SOCKET_NAME

POLICY = EgressPolicy(("index.example", "*.mirror.example"))


class World:
    """A proxy with one small web server for the whole outside, and a grant."""

    def __init__(self, outside: Outside, server: WebServer, proxy: EgressProxy) -> None:
        self.outside = outside
        self.server = server
        self.proxy = proxy
        self.grant = proxy.open_grant("agent", POLICY)

    async def dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_unix_connection(self.proxy.folder / SOCKET_NAME)

    async def say(self, sent: bytes) -> bytes:
        """What is answered until the connection ends."""
        reader, writer = await self.dial()
        writer.write(sent)
        try:
            return await asyncio.wait_for(reader.read(), 10)
        finally:
            writer.close()

    async def status(self, first: str, *fields: str, grant: Grant | None = None) -> int:
        """The status of the answer to a request with the grant's token."""
        answer = await self.say(request(grant or self.grant, first, *fields))
        return int(answer.split(b" ", 2)[1]) if answer else 0

    @property
    def log(self) -> list[ConnectionEntry]:
        return self.proxy.traffic.connections


def request(grant: Grant, first: str, *fields: str) -> bytes:
    token = base64.b64encode(f"benchwright:{grant.token}".encode()).decode()
    lines = [first, *fields, f"Proxy-Authorization: Basic {token}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"


def hello(host: str | None) -> bytes:
    """The first message of Python's own TLS."""
    coming, going = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    context.check_hostname = host is not None
    context.verify_mode = ssl.CERT_REQUIRED if host is not None else ssl.CERT_NONE
    tls = context.wrap_bio(coming, going, server_hostname=host)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return going.read()


def in_two_records(message: bytes) -> bytes:
    """The same message of TLS in two records."""
    body = message[5:]
    parts = (body[:70], body[70:])
    return b"".join(message[:3] + len(part).to_bytes(2) + part for part in parts)


@pytest_asyncio.fixture
async def world() -> AsyncIterator[World]:
    server = WebServer({"/simple/": b"packages\n"})
    async with serving(server) as address:
        outside = Outside(address)
        async with outside.proxy() as proxy:
            yield World(outside, server, proxy)


async def tunnelled(world: World, sent: bytes, host: str = "index.example") -> bytes:
    """What a server at the other end of a tunnel gets, which then says `back`."""
    got = bytearray()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.extend(await reader.read(65536))
        writer.write(b"back")
        writer.close()

    async with serving(answer) as address:
        outside = Outside(address)
        async with outside.proxy() as proxy:
            other = World(outside, world.server, proxy)
            answered = await other.say(request(other.grant, f"CONNECT {host}:443 HTTP/1.1") + sent)
            world.proxy.traffic = proxy.traffic
    assert answered.startswith(b"HTTP/1.1 200 ")
    return bytes(got)


async def test_a_host_of_the_list_is_reached_with_a_head_that_is_written_anew(world: World) -> None:
    asked = request(
        world.grant,
        "GET http://index.example/simple/ HTTP/1.1",
        *(
            "Host: index.example",
            "Connection: x-hop",
            "X-Hop: 1",
            "Proxy-Connection: keep-alive",
            "Accept: */*",
        ),
    )
    answer = await world.say(asked)
    assert answer.endswith(b"packages\n")
    assert world.server.requests == [
        b"GET /simple/ HTTP/1.1\r\nhost: index.example\r\nconnection: close\r\naccept: */*\r\n\r\n"
    ]
    (entry,) = world.log
    assert (entry.phase, entry.host, entry.port, entry.allowed) == ("agent", "index.example", 80, True)
    assert entry.sent == len(world.server.requests[0])
    assert entry.received == len(answer)


async def test_domains_below_one_of_the_list_are_on_it_and_the_domain_itself_is_not(world: World) -> None:
    assert await world.status("GET http://a.mirror.example/simple/ HTTP/1.1") == 200
    assert await world.status("GET http://mirror.example/simple/ HTTP/1.1") == 403


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(hello("index.example"), id="in one record"),
        pytest.param(in_two_records(hello("index.example")), id="in two records"),
    ],
)
async def test_a_tunnel_passes_tls_to_the_host_that_it_was_opened_for(world: World, sent: bytes) -> None:
    assert await tunnelled(world, sent) == sent
    (entry,) = world.log
    assert (entry.allowed, entry.sent, entry.received) == (True, len(sent), len(b"back"))


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (hello("raw.githubusercontent.com"), "TLS names another server: raw.githubusercontent.com"),
        (hello(None), "TLS names no server"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "the tunnel does not begin with TLS"),
        (b"GET / HTTP/1.1\r\nHost: github.com\r\n\r\n", "the tunnel does not begin with TLS"),
        (b"\x16\x03\x01\x00\x08\x01\x00\x00\x04\xff\xff\xff\xff", "TLS is not written as it must be"),
    ],
)
async def test_a_tunnel_for_something_else_ends_and_is_logged_as_refused(
    world: World, sent: bytes, why: str
) -> None:
    assert await tunnelled(world, sent) == b""
    (entry,) = world.log
    assert (entry.allowed, entry.why) == (False, why)


@pytest.mark.parametrize(
    ("first", "host"),
    [
        ("CONNECT github.com:443 HTTP/1.1", "github.com"),
        ("CONNECT evilindex.example:443 HTTP/1.1", "evilindex.example"),
        ("CONNECT index.example.evil.example:443 HTTP/1.1", "index.example.evil.example"),
        ("CONNECT index.example:22 HTTP/1.1", "index.example"),
        ("CONNECT index.example:80 HTTP/1.1", "index.example"),
        ("GET http://index.example:8080/ HTTP/1.1", "index.example"),
        ("CONNECT 93.184.215.14:443 HTTP/1.1", "93.184.215.14"),
        ("CONNECT 127.0.0.1:443 HTTP/1.1", "127.0.0.1"),
        ("CONNECT 2130706433:443 HTTP/1.1", "2130706433"),
        ("CONNECT 0x7f.1:443 HTTP/1.1", "0x7f.1"),
        ("CONNECT [::1]:443 HTTP/1.1", "::1"),
        (
            "CONNECT [2606:2800:21f:cb07:6820:80da:af6b:8b2c]:443 HTTP/1.1",
            "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
        ),
        ("GET http://[::ffff:169.254.169.254]/latest/ HTTP/1.1", "::ffff:169.254.169.254"),
        ("GET http://169.254.169.254/latest/ HTTP/1.1", "169.254.169.254"),
        ("CONNECT localhost:443 HTTP/1.1", "localhost"),
    ],
)
async def test_other_hosts_ports_and_addresses_are_refused_and_logged(
    world: World, first: str, host: str
) -> None:
    assert await world.status(first) == 403
    (entry,) = world.log
    assert (entry.host, entry.allowed) == (host, False)
    assert world.outside.connected == []


@pytest.mark.parametrize(
    ("first", "fields"),
    [
        ("GET http://user:secret@index.example/ HTTP/1.1", ()),
        ("GET http://index.example@github.com/ HTTP/1.1", ()),
        ("CONNECT user@index.example:443 HTTP/1.1", ()),
        ("CONNECT index.example HTTP/1.1", ()),
        ("CONNECT index.example:443/x HTTP/1.1", ()),
        ("CONNECT index.example:99999 HTTP/1.1", ()),
        ("GET /simple/ HTTP/1.1", ("Host: index.example",)),
        ("GET https://index.example/simple/ HTTP/1.1", ()),
        ("GET http://index.example/#@github.com/ HTTP/1.1", ()),
        ("GET http://index.example\\@github.com/ HTTP/1.1", ()),
        ("GET http://index.example/ HTTP/1.1", ("Host: github.com",)),
        ("GET http://index.example/ HTTP/1.1", ("Host: index.example", "Host: github.com")),
        ("CONNECT index.example:443 HTTP/1.1", ("Host: github.com:443",)),
        ("GET http://index.example/ HTTP/2.0", ()),
        ("GET http://index.example/  HTTP/1.1", ()),
        ("GET http://index.example/ HTTP/1.1", ("X: a\n b",)),
        ("GET http://index.example/ HTTP/1.1", (" folded: yes",)),
        ("GET http://index.example/ HTTP/1.1", ("X : space",)),
        ("GET http://index.example/ HTTP/1.1", ("X: a\0b",)),
        ("GET http://index.example/ HTTP/1.1", ("Content-Length: 5",)),
        ("GET http://index.example/ HTTP/1.1", ("Content-Length: 0", "Content-Length: 0")),
        ("GET http://index.example/ HTTP/1.1", ("Transfer-Encoding: chunked", "Content-Length: 0")),
        ("GET http://index.example/ HTTP/1.1", ("Transfer-Encoding: xchunked",)),
    ],
)
async def test_what_two_servers_could_read_in_two_ways_is_refused(
    world: World, first: str, fields: Sequence[str]
) -> None:
    assert await world.status(first, *fields) == 400
    assert world.outside.connected == []


async def test_without_tls_nothing_is_sent_to_a_host_but_requests_for_something(world: World) -> None:
    assert await world.status("POST http://index.example/legacy/ HTTP/1.1", "Content-Length: 0") == 405


async def test_a_second_request_behind_the_first_goes_nowhere(world: World) -> None:
    second = request(world.grant, "GET http://index.example/other HTTP/1.1")
    answer = await world.say(request(world.grant, "GET http://index.example/simple/ HTTP/1.1") + second)
    assert answer.endswith(b"packages\n")
    assert len(world.server.requests) == 1


@pytest.mark.parametrize(
    "address",
    [
        *(
            "127.0.0.1",
            "10.1.2.3",
            "172.17.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "0.0.0.0",
        ),
        *(
            "192.0.2.1",
            "224.0.0.1",
            "255.255.255.255",
            "::1",
            "::",
            "fe80::1%eth0",
            "fd00:ec2::254",
            "fec0::1",
        ),
        *(
            "::ffff:127.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::1",
            "2001:0:7f00:1::",
            "ff02::1",
        ),
        "no address",
    ],
)
def test_addresses_that_are_not_public_are_refused(address: str) -> None:
    assert address_refusal_reason(address)


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_not(address: str) -> None:
    assert address_refusal_reason(address) is None


@pytest.mark.parametrize("answers", [[["127.0.0.1"]], [[PUBLIC, "10.0.0.1"]], [["::ffff:169.254.169.254"]]])
async def test_a_name_of_the_list_that_leads_to_a_private_address_is_refused(
    answers: list[Sequence[str]],
) -> None:
    outside = Outside(("127.0.0.1", 1), {"index.example": answers})
    async with outside.proxy() as proxy:
        world = World(outside, WebServer({}), proxy)
        assert await world.status("GET http://index.example/ HTTP/1.1") == 403
        assert "is not a public address" in world.log[0].why
    assert outside.connected == []


async def test_a_name_is_looked_up_once_and_the_connection_goes_to_that_address(world: World) -> None:
    """A name that leads to this machine at the second look-up (DNS rebinding)."""
    async with serving(world.server) as address:
        outside = Outside(address, {"index.example": [[PUBLIC], ["127.0.0.1"]]})
        async with outside.proxy() as proxy:
            other = World(outside, world.server, proxy)
            assert await other.status("GET http://index.example/simple/ HTTP/1.1") == 200
            assert await other.status("GET http://index.example/simple/ HTTP/1.1") == 403
        assert outside.connected == [(PUBLIC, 80)]


async def test_a_host_that_cannot_be_reached_is_no_refusal(world: World) -> None:
    outside = Outside(("127.0.0.1", 1), {"index.example": [[PUBLIC]]})
    async with outside.proxy() as proxy:
        other = World(outside, world.server, proxy)
        assert await other.status("GET http://index.example/ HTTP/1.1") == 502
        assert await other.status("GET http://a.mirror.example/ HTTP/1.1") == 502
        assert [entry.allowed for entry in other.log] == [True, True]
        assert other.log[1].why == "its name cannot be resolved"


async def test_whoever_has_no_token_of_this_trial_gets_nowhere(world: World) -> None:
    async with world.outside.proxy() as proxy:
        of_another_trial = proxy.open_grant("agent", EgressPolicy(allows_all_hosts=True))
        assert await world.status("CONNECT index.example:443 HTTP/1.1", grant=of_another_trial) == 407
    assert (await world.say(b"CONNECT index.example:443 HTTP/1.1\r\n\r\n")).startswith(b"HTTP/1.1 407 ")
    assert world.log == []


async def test_a_grant_that_is_closed_ends_what_is_under_way(world: World) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with serving(silent) as address, Outside(address).proxy() as proxy:
        other = World(Outside(address), world.server, proxy)
        reader, writer = await other.dial()
        writer.write(request(other.grant, "CONNECT index.example:443 HTTP/1.1") + hello("index.example"))
        await reader.readuntil(b"\r\n\r\n")
        await proxy.revoke_grant(other.grant)
        assert await asyncio.wait_for(reader.read(), 5) == b""
        writer.close()
        assert await other.status("CONNECT index.example:443 HTTP/1.1") == 407


async def test_without_a_policy_nothing_is_let_through(world: World) -> None:
    world.grant.policy = None
    assert await world.status("GET http://index.example/simple/ HTTP/1.1") == 403
    assert world.log[0].why == "there is no network in this phase"


async def test_a_policy_for_everything_lets_public_hosts_through_and_no_other_port(world: World) -> None:
    world.grant.policy = EgressPolicy(allows_all_hosts=True)
    assert await world.status("GET http://github.com/simple/ HTTP/1.1") == 200
    assert await world.status("CONNECT github.com:22 HTTP/1.1") == 403


async def test_a_head_that_does_not_end_is_cut_off(world: World) -> None:
    answer = await world.say(b"GET http://index.example/ HTTP/1.1\r\nX: " + b"a" * 40_000)
    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_head_that_comes_too_slowly_is_not_waited_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_module, "REQUEST_HEAD_SECONDS", 0.1)
    assert (await world.say(b"GET http://index.example/ HTTP/1.1\r\n")).startswith(b"HTTP/1.1 408 ")


async def test_many_that_say_nothing_do_not_keep_out_whoever_has_a_token(world: World) -> None:
    waiting = [await world.dial() for _ in range(2 * proxy_module.MAX_UNIDENTIFIED_CONNECTIONS)]
    assert await world.status("GET http://index.example/simple/ HTTP/1.1") == 200
    for _, writer in waiting:
        writer.close()


def test_the_log_names_so_many_connections_and_counts_the_others() -> None:
    traffic = ConnectionLog()
    for _ in range(MAX_LOGGED_CONNECTIONS + 5):
        traffic.add_connection("agent", "github.com", 443, "not on the list of allowed hosts")
    assert (len(traffic.connections), traffic.unlisted_count) == (MAX_LOGGED_CONNECTIONS, 5)
