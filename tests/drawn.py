"""Pictures for tests: tiny PNGs, each of a colour of its own, and the heads of other kinds."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any


def png(red: int, width: int = 3, height: int = 2) -> bytes:
    """A PNG of one colour."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + bytes((red, 90, 160)) * width) * height)
    chunks = b"".join(
        _chunk(kind, data) for kind, data in ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    )
    return b"\x89PNG\r\n\x1a\n" + chunks


def jpeg(width: int, height: int, before: bytes = b"") -> bytes:
    """The head of a JPEG, up to its frame; `before` are further segments in front of that."""
    frame = struct.pack(">HHBHHB", 0xFFC2, 11, 8, height, width, 1) + b"\1\x11\0"
    return b"\xff\xd8" + _segment(0xE0, b"JFIF\0") + before + b"\xff" + frame


def gif(width: int, height: int) -> bytes:
    """The head of a GIF."""
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0)


def webp(kind: bytes, width: int, height: int) -> bytes:
    """The head of a WebP: lossy (`VP8 `), lossless (`VP8L`) or extended (`VP8X`)."""
    payload = {
        b"VP8 ": b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height),
        b"VP8L": b"\x2f" + struct.pack("<I", (width - 1) | (height - 1) << 14),
        b"VP8X": b"\0\0\0\0" + (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little"),
    }[kind]
    return b"RIFF\0\0\0\0WEBP" + kind + struct.pack("<I", len(payload)) + payload


def segment(marker: int, length: int) -> bytes:
    """A segment of a JPEG that says nothing about its size."""
    return _segment(marker, bytes(length))


def url(data: bytes, media_type: str = "image/png") -> str:
    """Bytes as a data URL that says what it likes."""
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def shown(address: str) -> dict[str, Any]:
    """A part of a message with a picture."""
    return {"type": "image_url", "image_url": {"url": address}}


def hub(data: bytes) -> dict[str, Any]:
    """A picture as the hub has it in JSON."""
    return {"bytes": base64.b64encode(data).decode(), "path": "misleading.gif"}


def _segment(marker: int, data: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
