"""Resolves host names. Rejects private addresses, this machine's addresses, and the metadata servers of clouds.

A name is resolved once, and the connection goes to the address that was checked. So it does not help a name
to resolve to another address a moment later.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
HostResolver = Callable[[str, int], Awaitable[list[str]]]
"""Function from (host, port) to the host's addresses. It raises OSError if the host has none."""
Connector = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""Function from (address, port) to a connection. It raises OSError if the connection fails."""

_EMBEDDING = (
    ipaddress.IPv6Network("64:ff9b::/96"),
    ipaddress.IPv6Network("64:ff9b:1::/48"),
    ipaddress.IPv6Network("2002::/16"),
    ipaddress.IPv6Network("2001::/32"),
    ipaddress.IPv6Network("::/96"),
)
"""IPv6 networks whose addresses contain an IPv4 address, which may be private.

They are NAT64 (RFC 6052, 8215), 6to4, Teredo and IPv4-compatible addresses.
"""


async def resolve_host(host: str, port: int) -> list[str]:
    """Return the addresses of a host, found by DNS.

    Raises:
        OSError: If the host has no address.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection to an address, and return its streams.

    Raises:
        OSError: If the connection fails.
    """
    return await asyncio.open_connection(address, port)


def address_refusal_reason(address: str) -> str | None:
    """Return why containers must not reach an address. Return None for a public address of another machine."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"{address} is no address"
    if not _is_public(parsed):
        return f"{address} is not a public address"
    if _is_ours(parsed):
        return f"{address} is this machine"
    return None


def _is_public(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or any(address in network for network in _EMBEDDING):
            return False
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _is_ours(address: IPAddress) -> bool:
    """Return True if this machine has the address. This is tested by binding a socket to the address."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
