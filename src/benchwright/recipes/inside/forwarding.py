"""Leads a port of the loopback of a container that has no network to a Unix socket that is mounted there.

Run by itself, it reads {"socket", "port"} from stdin, prints the port and goes on in the background; port 0 is any.
"""

import json
import os
import socket
import sys
import threading

PIECE = 65536


def pump(source: socket.socket, sink: socket.socket) -> None:
    """Passes on what comes, at once, and its end."""
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


def forward(listener: socket.socket, path: str) -> None:
    """Connects whoever comes to the port with the socket at a path."""
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        relay = socket.socket(socket.AF_UNIX)
        try:
            relay.connect(path)
        except OSError:
            client.close()
            continue
        for pair in ((client, relay), (relay, client)):
            threading.Thread(target=pump, args=pair, daemon=True).start()


def forward_in_background() -> None:
    """Returns in the process that was started; another one goes on."""
    order = json.load(sys.stdin)
    listener = socket.create_server(("127.0.0.1", order["port"]))
    if os.fork():
        print(listener.getsockname()[1])
        return
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    forward(listener, order["socket"])
