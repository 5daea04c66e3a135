"""Runs an agent in a container without network. A loopback port is forwarded to the relay's socket.

It reads {"socket", "mark", "command", "environment", "files"} from stdin. In the command, the environment and
the files, the placeholder `mark` is replaced by the port.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchwright.recipes.inside.forwarding import forward  # precedes this text in the container


def main() -> int:
    """Start the agent, wait for its end, and return its exit status."""
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
