"""A way out for containers without a network: an HTTP proxy of our own, which lets hosts of a list through and logs.

hosts.py       which hosts, with the reason for each: package mirrors; what tasks name comes on top
addresses.py   where a host is: public addresses only, and the connection goes to the address that was looked at
heads.py       what a client asks for, read strictly
hello.py       the server that a TLS client asks for, which must be the host that it named to the proxy
grants.py      who may use it, and the log of who asked for what
passing.py     bytes, both ways
proxy.py       the server, at a Unix socket that containers find mounted

A container reaches the socket by a forwarder on its loopback. It has no other network.
"""

from __future__ import annotations

from benchwright.sandbox.egress.grants import Connection, Grant, Phase, Traffic
from benchwright.sandbox.egress.hosts import MIRRORS, Network, Policy, host_problem, mirrors, with_companions
from benchwright.sandbox.egress.proxy import EgressProxy

__all__ = [
    "MIRRORS",
    "Connection",
    "EgressProxy",
    "Grant",
    "Network",
    "Phase",
    "Policy",
    "Traffic",
    "host_problem",
    "mirrors",
    "with_companions",
]
