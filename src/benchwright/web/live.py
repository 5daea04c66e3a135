"""What changes, as server-sent events.

An event's id says what the page then shows: for a run, how far its journal was read. A browser that comes
back gives the last id it has seen, and hears of a change if there was one, however long it was away; the page
then asks for its parts again, as they are now. So no event has to be kept, and all windows show the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.web.off_loop import off_loop
from benchwright.web.viewer import VIEWER

POLL = 0.4
"""Seconds between two looks."""

HEARTBEAT = 15.0
"""Seconds after which an empty line finds out whether the browser is still there."""


class Change(NamedTuple):
    """What is to be seen now, and the id that stands for it."""

    id: str
    payload: dict[str, Any]


async def tell_changes(
    request: web.Request, look: Callable[[], Change], poll: float = POLL
) -> web.StreamResponse:
    """Sends an event whenever `look`, called in a thread every `poll` seconds, has something else to tell."""
    viewer = request.app[VIEWER]
    response = web.StreamResponse()
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    await response.prepare(request)
    last = request.headers.get("Last-Event-ID") or request.query.get("after", "")
    quiet = 0.0
    try:
        await response.write(b"retry: 1000\n\n")
        while not viewer.closing.is_set():
            change = await off_loop(look)
            if change.id != last:
                last, quiet = change.id, 0.0
                await response.write(_event(change))
            elif quiet >= HEARTBEAT:
                quiet = 0.0
                await response.write(b":\n\n")
            await asyncio.sleep(poll)
            quiet += poll
    except ConnectionError:  # the window was closed
        pass
    return response


def _event(change: Change) -> bytes:
    return b"id: %s\nevent: changed\ndata: %s\n\n" % (
        change.id.encode(),
        msgspec.json.encode(change.payload),
    )
