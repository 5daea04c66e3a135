"""Asks a verifier whether it is healthy."""

from __future__ import annotations

import os
from typing import NamedTuple

from benchwright.endpoint.address import parse_base_url, proxy_for
from benchwright.endpoint.connection import WireError
from benchwright.endpoint.server_info import ask
from benchwright.endpoint.wire import Limits, Wire
from benchwright.errors import UserError

SECONDS = 5.0
"""How long a verifier may take to answer."""
_SILENT = ("read_timeout", "stall", "total_timeout")


class Trouble(NamedTuple):
    """Why a verifier is not healthy. A `silent` one took the question and did not answer in time: it may be at work."""

    why: str
    silent: bool = False


async def trouble_with(url: str, path: str | None) -> Trouble | None:
    """Why the verifier at an address is not healthy; None if it is.

    Healthy is what answers GET of the health path with a status of 200 to 299, or GET of the address itself with any
    status, where there is no such path.
    """
    try:
        address = parse_base_url(url)
        target = f"{address.prefix}/{(path or '').lstrip('/')}"
        if not all("!" <= character <= "~" for character in target):
            return Trouble(f"{path!r} is not a valid path")
        proxy = proxy_for(address, os.environ)
    except UserError as error:
        return Trouble(str(error))
    wire = Wire(address, connections=1, limits=Limits(SECONDS, SECONDS, SECONDS, SECONDS), proxy=proxy)
    try:
        document = await ask(wire, "GET", target)
    except WireError as error:
        return Trouble(f"GET {url}{path or ''}: {error}", error.kind in _SILENT)
    finally:
        wire.close()
    if path is not None and not 200 <= document.status < 300:
        return Trouble(f"GET {url}{path} is answered with HTTP {document.status}")
    return None
