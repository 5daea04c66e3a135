"""Network access (egress) for containers through an HTTP proxy, which logs connections and refuses unlisted hosts.

hosts.py         the allowed hosts, with the reason for each: package mirrors; tasks add their own
addresses.py     addresses of hosts: only public ones, and the connection goes to the address that was checked
heads.py         strict parser of clients' requests
client_hello.py  the server named in TLS, which must be the host named to the proxy
grants.py        permission to use the proxy, and the log of connections
copying.py       bytes in both directions
proxy.py         the server, at a Unix socket mounted in containers

A container reaches the socket through a forwarder on the container's loopback. It has no other network.
"""

from __future__ import annotations

from benchwright.sandbox.egress.grants import ConnectionEntry, ConnectionLog, Grant, TrialPhase
from benchwright.sandbox.egress.hosts import (
    PACKAGE_MIRRORS,
    EgressPolicy,
    NetworkAccess,
    host_problem,
    mirror_hosts,
    with_redirect_hosts,
)
from benchwright.sandbox.egress.proxy import EgressProxy

__all__ = [
    "PACKAGE_MIRRORS",
    "ConnectionEntry",
    "ConnectionLog",
    "EgressPolicy",
    "EgressProxy",
    "Grant",
    "NetworkAccess",
    "TrialPhase",
    "host_problem",
    "mirror_hosts",
    "with_redirect_hosts",
]
