"""Forwards a loopback port in a container without network to a mounted Unix socket.

Run as a program, it reads {"socket", "port", "direct"} from stdin, prints the port, and continues in the
background. Port 0 stands for any free port. Requests to this loopback and to the hosts in `direct` are sent
there directly, because some programs do not support exceptions from a proxy.
"""

import json
import os
import re
import socket
import sys
import threading

PIECE = 65536
REQUEST = re.compile(rb"([A-Z]+) http://([^/:@\s]+)(?::(\d{1,5}))?(/\S*)? ")
LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}")


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Copy data from `source` to `sink` as the data arrive. When `source` ends, end `sink`, too."""
    try:
        while data := source.recv(PIECE):
            sink.sendall(data)
    except OSError:
        pass
    for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def forward(listener: socket.socket, path: str, direct: list[str] | None = None) -> None:
    """Connect each client of the port to the socket at `path`, as `lead` does."""
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=lead, args=(client, path, direct), daemon=True).start()


def lead(client: socket.socket, path: str, direct: list[str] | None) -> None:
    """Connect a client to the socket at `path`, and copy bytes in both directions.

    `direct`: hosts to which requests are sent directly. If it is given, requests for the loopback are sent
    directly, too.
    """
    try:
        head = b"" if direct is None else read_head(client)
        asked = REQUEST.match(head)
        host = asked[2].decode("latin-1") if asked else ""
        if asked and (LOOPBACK.fullmatch(host) or host in (direct or ())):
            other = socket.create_connection((host, int(asked[3] or 80)))
            head = asked[1] + b" " + (asked[4] or b"/") + b" " + head[asked.end() :]
        else:
            other = socket.socket(socket.AF_UNIX)
            other.connect(path)
        other.sendall(head)
    except OSError:
        client.close()
        return
    threading.Thread(target=pump, args=(other, client), daemon=True).start()
    pump(client, other)


def read_head(client: socket.socket) -> bytes:
    """Read a client's first bytes. If they are a request's head, read up to the end of the head."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < PIECE:
        piece = client.recv(PIECE)
        if not piece:
            break
        head += piece
    return head


def forward_in_background() -> None:
    """Start the forwarder in another process, print its port, and return."""
    order = json.load(sys.stdin)
    listener = socket.create_server(("127.0.0.1", order["port"]))
    if os.fork():
        print(listener.getsockname()[1])
        return
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    forward(listener, order["socket"], order["direct"])
