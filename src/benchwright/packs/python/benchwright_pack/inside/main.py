"""Entry point of the pack's process: opens the channel, and then runs the pack."""

from __future__ import annotations

import asyncio
import os
import sys

from .calls import guard_process
from .channel import Channel, read_lines
from .runner import Runner


def main() -> None:
    """Serve the host until the host is gone.

    Command line: the folder, the descriptor to read from, the descriptor to write to.
    """
    read, write = (int(argument) for argument in sys.argv[2:4])
    for descriptor in (read, write):
        os.set_inheritable(descriptor, False)
    asyncio.run(_serve(read, write))


async def _serve(read: int, write: int) -> None:
    lines = await read_lines(read)
    settings = await lines.get()
    sys.argv[:] = [settings["entry"]]
    channel = Channel(write, settings["nonce"], settings["messageBytes"])
    guard_process(channel, asyncio.get_running_loop())
    runner = Runner(settings, channel)
    while True:
        runner.take(await lines.get())
