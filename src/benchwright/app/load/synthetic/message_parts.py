"""Parts of synthetic requests besides words: images that are new to the server, and tool definitions."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from typing import Any

from benchwright.errors import UserError

EQUAL_IMAGE_ROWS = 16
"""Number of consecutive equal rows in an image, so that an image is made in a fraction of a millisecond."""

MAX_IMAGE_SIDE = 8192

_NOTHING_CHANGED = 2
"""PNG filter type (Up): the row holds only the differences to the row above."""


def parse_image_size(text: str) -> tuple[int, int]:
    """Return (width, height) in pixels for the size of an image such as `512x384`.

    Raises:
        UserError: If the text is not a size.
    """
    width, _, height = text.lower().partition("x")
    if width.isdigit() and height.isdigit():
        size = int(width), int(height)
        if all(0 < side <= MAX_IMAGE_SIDE for side in size):
            return size
    raise UserError(f"--image-size {text!r} is not a size in pixels: use WIDTHxHEIGHT, up to 8192x8192.")


def make_striped_png(width: int, height: int, rng: random.Random) -> bytes:
    """Return a PNG of stripes and dots in four colours (https://www.w3.org/TR/png-3/), two bits per pixel."""
    row = -(-width // 4)
    repeated = bytes([_NOTHING_CHANGED]) + bytes(row)
    bands = [
        b"\0" + rng.randbytes(row) + repeated * (EQUAL_IMAGE_ROWS - 1)
        for _ in range(-(-height // EQUAL_IMAGE_ROWS))
    ]
    pixels = b"".join(bands)[: height * (row + 1)]
    header = struct.pack(">IIBBBBB", width, height, 2, 3, 0, 0, 0)
    parts = (
        (b"IHDR", header),
        (b"PLTE", rng.randbytes(12)),
        (b"IDAT", zlib.compress(pixels, 1)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def make_image_part(width: int, height: int, rng: random.Random) -> dict[str, Any]:
    """Return a new image as a content part of a chat message."""
    encoded = base64.b64encode(make_striped_png(width, height, rng)).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}}


TOOL_SUBJECTS = ("orders", "customers", "invoices", "products", "flights", "rooms", "tickets", "reports")
TOOL_ACTIONS = ("find", "create", "update", "cancel", "list", "count", "export", "review")


def tool_definition(number: int) -> dict[str, Any]:
    """Return a tool (function) definition of about a hundred tokens, a different one for each number."""
    subject, action = (
        TOOL_SUBJECTS[number % len(TOOL_SUBJECTS)],
        TOOL_ACTIONS[number // len(TOOL_SUBJECTS) % len(TOOL_ACTIONS)],
    )
    text = {"type": "string"}
    properties = {
        "query": {**text, "description": f"What to look for among the {subject}."},
        "status": {**text, "enum": ["open", "closed", "any"], "description": f"Which {subject} are meant."},
        "limit": {"type": "integer", "description": f"The largest number of {subject}."},
    }
    return {
        "type": "function",
        "function": {
            "name": f"{action}_{subject}_{number}",
            "description": f"Use it to {action} {subject} in the system with the number {number}.",
            "parameters": {"type": "object", "properties": properties, "required": ["query"]},
        },
    }
