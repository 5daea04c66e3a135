"""Network access (egress) for containers by our own HTTP proxy, which logs, and refuses unlisted hosts.

hosts.py       the allowed hosts, with the reason for each: package mirrors; tasks add their own
addresses.py   addresses of hosts: only public ones, and the connection goes to the address that was checked
heads.py       strict parser of clients' requests
hello.py       the server named in TLS, which must be the host named to the proxy
grants.py      who may use the proxy, and the log of requests
passing.py     bytes in both directions
proxy.py       the server, at a Unix socket mounted in containers

A container reaches the socket through a forwarder on its loopback. It has no other network.
"""

from __future__ import annotations

from benchwright.sandbox.egress.grants import Connection, ConnectionLog, Grant, TrialPhase
from benchwright.sandbox.egress.hosts import (
    MIRRORS,
    EgressPolicy,
    NetworkAccess,
    host_problem,
    mirror_hosts,
    with_redirect_hosts,
)
from benchwright.sandbox.egress.proxy import EgressProxy

__all__ = [
    "MIRRORS",
    "Connection",
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
