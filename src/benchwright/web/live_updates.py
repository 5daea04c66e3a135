"""Live updates of pages by server-sent events.

The id of an event identifies the state of the page. For a run, the id says how far the journal was read. A browser that
reconnects sends the last id that it has seen. It receives an event if there was a change since then. The page then
requests its parts again in their present state. So no events have to be stored, and all windows show the same state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from benchwright.web.threads import run_in_thread
from benchwright.web.viewer import VIEWER_KEY

POLL_SECONDS = 0.4
"""Seconds between two checks of a page's state for changes."""

HEARTBEAT_SECONDS = 15.0
"""Seconds without events after which a comment line is sent.

The line shows whether the browser is still connected.
"""


class PageState(NamedTuple):
    """The current state of a page: the id of the state, and the values that are sent to the browser."""

    id: str
    payload: dict[str, Any]


async def send_changes(
    request: web.Request, look: Callable[[], PageState], poll: float = POLL_SECONDS
) -> web.StreamResponse:
    """Send an event whenever `look` returns a state with a new id.

    Stop when the browser disconnects or the viewer closes.

    `look` is called in a thread every `poll` seconds.
    """
    viewer = request.app[VIEWER_KEY]
    response = web.StreamResponse()
    response.content_type = "text/event-stream"
    response.charset = "utf-8"
    await response.prepare(request)
    last = request.headers.get("Last-Event-ID") or request.query.get("after", "")
    quiet = 0.0
    try:
        await response.write(b"retry: 1000\n\n")
        while not viewer.closing.is_set():
            change = await run_in_thread(look)
            if change.id != last:
                last, quiet = change.id, 0.0
                await response.write(_event(change))
            elif quiet >= HEARTBEAT_SECONDS:
                quiet = 0.0
                await response.write(b":\n\n")
            await asyncio.sleep(poll)
            quiet += poll
    except ConnectionError:  # the window was closed
        pass
    return response


def _event(change: PageState) -> bytes:
    return b"id: %s\nevent: changed\ndata: %s\n\n" % (
        change.id.encode(),
        msgspec.json.encode(change.payload),
    )
