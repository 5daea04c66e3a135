"""Measurement of how long bytes waited in a socket before they were read."""

from __future__ import annotations

import socket
import struct
import sys

CLOCK_TICK_NS = 4_000_000
"""Longest clock tick of Linux kernels in use (CONFIG_HZ=250), in ns.

The times in TCP_INFO are counted in clock ticks.
"""

_LAST_DATA_RECEIVED = struct.Struct("=I")
_LAST_DATA_RECEIVED_OFFSET = 8 + 4 * 11


def can_see_waiting_bytes() -> bool:
    """Return True if the system reports when data last arrived in a socket, as Linux does (TCP_INFO)."""
    return sys.platform == "linux" and hasattr(socket, "TCP_INFO")


class SocketInspector(socket.socket):
    """A second handle on a transport's socket, used only for inspection.

    Deleting the handle does not close the socket.
    """

    def __del__(self) -> None:
        self.detach()

    def wait_ns(self) -> int:
        """Return a lower bound for the time that the newest bytes have waited in the socket, in ns.

        Return 0 if unknown.

        The kernel reports when data last arrived (`tcpi_last_data_recv` of TCP_INFO, linux/tcp.h), in
        milliseconds counted in clock ticks. One tick is subtracted, so that the time is never overstated.
        """
        try:
            info = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 56)
            milliseconds: int = _LAST_DATA_RECEIVED.unpack_from(info, _LAST_DATA_RECEIVED_OFFSET)[0]
        except (OSError, struct.error):
            return 0
        return max(0, milliseconds * 1_000_000 - CLOCK_TICK_NS)


def watch_socket(sock: socket.socket | None) -> SocketInspector | None:
    """Return an object that measures waiting bytes in a transport's socket. Return None if there is none.

    There is none if no socket is open, or if the system does not report when data arrived.
    """
    if sock is None or sock.fileno() < 0 or not can_see_waiting_bytes():
        return None
    return SocketInspector(sock.family, sock.type, sock.proto, sock.fileno())
