"""Findings on this machine's network: loopback, and proxies in the environment."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

from benchwright.app.doctor.findings import Finding
from benchwright.endpoint.address import find_proxy, parse_base_url
from benchwright.errors import UserError

CHECK_TIMEOUT = 3.0


def check_loopback() -> Iterator[Finding]:
    """Yield a finding on whether programs on this machine can reach each other by the name `localhost`."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        try:
            with socket.create_connection(
                ("localhost", server.getsockname()[1]), timeout=CHECK_TIMEOUT
            ) as ours:
                theirs = server.accept()[0]
                with theirs:
                    ours.sendall(b"x")
                    theirs.settimeout(CHECK_TIMEOUT)
                    theirs.recv(1)
        except OSError as error:
            advice = (
                "Check `127.0.0.1 localhost` in /etc/hosts and the firewall, or use 127.0.0.1 in addresses."
            )
            said = f"a server on 127.0.0.1 cannot be reached as localhost: {error}"
            yield Finding("loopback", said, "problem", what_to_do=advice)
            return
    yield Finding("loopback", "servers on this machine can be reached as localhost")


def check_proxies() -> Iterator[Finding]:
    """Yield a finding on the proxies that the environment sets for remote endpoints.

    Servers on this machine are never reached through a proxy.
    """
    try:
        ways = [
            f"{scheme}:// through {proxy.host}:{proxy.port}"
            for scheme in ("https", "http")
            if (proxy := find_proxy(parse_base_url(f"{scheme}://example.org/v1"), os.environ))
        ]
    except UserError as error:
        yield Finding("proxies", str(error), "problem")
        return
    yield Finding("proxies", ", ".join(ways) or "none in the environment")
