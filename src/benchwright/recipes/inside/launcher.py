"""Runs an agent in a container that has no network: a port of its loopback leads to the relay's socket.

On stdin: {"socket", "mark", "command", "environment", "files"}. The mark stands for the port wherever it is.
"""

import json
import os
import socket
import subprocess
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


def main() -> int:
    """Starts the agent, and returns its exit status."""
    listener = socket.create_server(("127.0.0.1", 0))
    given = sys.stdin.read()
    order = json.loads(given.replace(json.loads(given)["mark"], str(listener.getsockname()[1])))
    threading.Thread(target=forward, args=(listener, order["socket"]), daemon=True).start()
    os.makedirs(order["environment"]["HOME"], exist_ok=True)
    for path, text in order["files"].items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    environment = {**os.environ, **order["environment"]}
    try:
        agent = subprocess.Popen(order["command"], env=environment, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.exit(f"the agent cannot be started: {error}")
    status = agent.wait()
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
