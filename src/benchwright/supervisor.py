"""Runs a program to its end, and then ends all that it has started: a small process between Benchwright and an agent.

It is the parent of everything that the program leaves behind, in whatever session. Its control socket tells it to
end: by its end, which also comes where Benchwright is killed.
"""

import json
import os
import select
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchwright.descendants import (  # stand before this text
        MARK,
        become_reaper,
        descendants,
        end_all,
        reap,
    )

PATIENCE = 2.0
"""Seconds that a program gets to end after SIGTERM, before SIGKILL."""
MOST_NAMES = 20
"""Names of processes left behind that are told."""


def main() -> None:
    """Run the program of the arguments (control socket, mark, program and its arguments); tell how it ended.

    Written to the socket: {"status", "left"}, its exit status, negative for a signal, and how many processes of each
    name it left behind; or {"error"}, why it could not be started.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    become_reaper()
    awake, wake = os.pipe()
    for end in (awake, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: control.shutdown(socket.SHUT_RD))
    try:
        told = run(sys.argv[3:], sys.argv[2], control, awake)
    except OSError as error:
        told = {"error": error.strerror or str(error)}
    try:
        control.sendall(json.dumps(told).encode())
    except OSError:
        pass  # nobody is there any more


def run(argv: list[str], mark: str, control: socket.socket, awake: int) -> dict[str, object]:
    """Run the program until it ends or the control socket does, and end what is left.

    Raises:
        OSError: If the program cannot be started.
    """
    program = os.posix_spawnp(
        argv[0],
        argv,
        {**os.environ, MARK: mark},
        setsid=True,
        setsigmask=[],
        setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],
    )
    for stream in (0, 1, 2):
        os.close(stream)  # their end is that of the program's, not ours
    status = next((status for status in _waiting(program, control, awake) if status is not None), None)
    left = Counter(end_all(lambda: {one: name for one, name in descendants().items() if one[0] != program}))
    end_all(descendants)
    if not os.path.isdir("/proc/self"):
        _end_group(program, signal.SIGKILL)
    named = dict(left.most_common(MOST_NAMES))
    if left.total() > sum(named.values()):
        named["others"] = left.total() - sum(named.values())
    return {"status": -signal.SIGKILL if status is None else status, "left": named}


def _waiting(program: int, control: socket.socket, awake: int) -> Iterator[int | None]:
    """Yield the program's exit status, None while it runs; ends where it does not heed SIGTERM."""
    deadline = None
    while deadline is None or time.monotonic() < deadline:
        watched: list[int | socket.socket] = [awake] if deadline is not None else [awake, control]
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        ready, _, _ = select.select(watched, [], [], left)
        if awake in ready:
            os.read(awake, 4096)
        yield reap(program)
        if control in ready:
            _end_group(program, signal.SIGTERM)
            deadline = time.monotonic() + PATIENCE


def _end_group(program: int, number: signal.Signals) -> None:
    try:
        os.killpg(program, number)
    except OSError:
        pass


if __name__ == "__main__":
    main()
