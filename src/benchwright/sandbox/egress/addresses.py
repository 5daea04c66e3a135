"""Where a host is. Private addresses, this machine and the metadata of clouds are out of reach of containers.

A name is looked up once, and the connection goes to the address that was looked at: a name that leads somewhere else
a moment later leads nowhere.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]
"""(host, port) -> its addresses; raises OSError where it has none."""
Connect = Callable[[str, int], Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]
"""(address, port) -> a connection; raises OSError."""

_EMBEDDING = (
    ipaddress.IPv6Network("64:ff9b::/96"),
    ipaddress.IPv6Network("64:ff9b:1::/48"),
    ipaddress.IPv6Network("2002::/16"),
    ipaddress.IPv6Network("2001::/32"),
    ipaddress.IPv6Network("::/96"),
)
"""Addresses that stand for one of IPv4, maybe a private one: NAT64 (RFC 6052, 8215), 6to4, Teredo, compatible."""


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to an address.

    Raises:
        OSError: nobody answers there.
    """
    return await asyncio.open_connection(address, port)


def why_not(address: str) -> str | None:
    """Why an address may not be reached; None for a public one of another machine."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return f"{address} is no address"
    if not _is_public(parsed):
        return f"{address} is not a public address"
    if _is_ours(parsed):
        return f"{address} is this machine"
    return None


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None or any(address in network for network in _EMBEDDING):
            return False
        if address.is_site_local:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _is_ours(address: Address) -> bool:
    """Whether an interface of this machine has it: only such an address can be bound."""
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((str(address), 0))
    except OSError:
        return False
    return True
