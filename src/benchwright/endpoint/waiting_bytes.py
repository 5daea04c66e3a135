"""How long bytes had waited in a socket before they were read."""

from __future__ import annotations

import socket
import struct

TICK_NS = 4_000_000
"""The coarsest clock tick that Linux kernels in use have (CONFIG_HZ=250); TCP_INFO counts in ticks."""

_LAST_DATA_RECEIVED = struct.Struct("=I")
_LAST_DATA_RECEIVED_OFFSET = 8 + 4 * 11


class WaitingBytes(socket.socket):
    """A socket that is another's, only to be looked at: that this one is dropped does not close it."""

    def __del__(self) -> None:
        self.detach()

    def age(self) -> int:
        """How long the newest bytes have waited: a lower bound in ns, 0 where it cannot be told.

        The kernel says when data last came (`tcpi_last_data_recv` of TCP_INFO, linux/tcp.h) in milliseconds
        counted in clock ticks; one tick is taken off, so the lag is never overstated.
        """
        try:
            info = self.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 56)
            milliseconds: int = _LAST_DATA_RECEIVED.unpack_from(info, _LAST_DATA_RECEIVED_OFFSET)[0]
        except (AttributeError, OSError, struct.error):
            return 0
        return max(0, milliseconds * 1_000_000 - TICK_NS)


def waiting_in(sock: socket.socket | None) -> WaitingBytes | None:
    """The bytes that wait in the socket of a transport; None where it has none, or no longer."""
    if sock is None or sock.fileno() < 0:
        return None
    return WaitingBytes(sock.family, sock.type, sock.proto, sock.fileno())
