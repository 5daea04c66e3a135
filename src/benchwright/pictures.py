"""Images in messages: reads the format and dimensions of an image from its first bytes, and builds data URLs.

No pixels are decoded.

The four formats that chat completions accept are known: PNG (https://www.w3.org/TR/png-3/), JPEG (ITU-T T.81), GIF
(https://www.w3.org/Graphics/GIF/spec-gif89a.txt) and WebP (RFC 9649).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from benchwright.records import Record

MAX_BYTES = 64 * 2**20
"""Maximum size of an image in bytes. Servers accept 5 to 20 MB."""

MAX_PIXELS = 178_956_970
"""Maximum number of pixels of an image. It is the limit of Pillow, with which most other programs read images."""

TOKEN_SIDE_PIXELS = 28
MAX_TOKENS = 16_384
"""`TOKEN_SIDE_PIXELS`: side, in pixels, of the square that one prompt token covers.

`MAX_TOKENS`: maximum number of prompt tokens for an image. Both numbers are those of Qwen2.5-VL (arXiv:2502.13923).
"""

_DATA_URL = re.compile(r"data:(image/[a-z+.-]{1,30});base64,", re.IGNORECASE)
_HEAD = 64 * 2**10
"""Number of characters read at the start of a data URL. In nearly all images they contain the dimensions."""

_NO_FRAME = (0xC4, 0xC8, 0xCC)
"""JPEG markers from 0xC0 to 0xCF that do not begin a frame. All other markers in that range do."""


class Picture(Record, frozen=True):
    """An image: its kind (`png`, `jpeg`, `gif`, `webp`), width and height in pixels, and size in bytes."""

    image_format: str
    width: int
    height: int
    byte_count: int

    @property
    def media_type(self) -> str:
        """Media type, such as `image/png`."""
        return f"image/{self.image_format}"

    @property
    def tokens(self) -> int:
        """Approximate number of prompt tokens for the image; models differ by a factor of 2 and more."""
        across, down = (-(-side // TOKEN_SIDE_PIXELS) for side in (self.width, self.height))
        return min(across * down, MAX_TOKENS)

    def __str__(self) -> str:
        size = (
            f"{self.byte_count / 1e6:.1f} MB"
            if self.byte_count >= 1e6
            else f"{max(1, round(self.byte_count / 1e3))} kB"
        )
        return f"[image {self.image_format} {self.width}×{self.height}, {size}]"


def parse_picture(data: bytes) -> Picture:
    """Return the format and dimensions of an image.

    They are read from the image data, not taken from a file name.

    Raises:
        ValueError: If the data has none of the four formats, ends before its dimensions, or is too large.
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"the image has {len(data):,} bytes; {MAX_BYTES:,} are the most")
    return _checked(data, len(data))


def parse_data_url(url: str) -> Picture:
    """Return the format and dimensions of the image in a data URL.

    They are read from the image data. The media type in the URL is ignored.

    Raises:
        ValueError: If the URL is not a data URL of an image, or if `parse_picture` raises it.
    """
    return parse_picture(decode_data_url(url))


def decode_data_url(url: str) -> bytes:
    """Return the bytes in a data URL of an image.

    Raises:
        ValueError: If the URL is not a data URL of an image, or its Base64 is invalid.
    """
    found = _DATA_URL.match(url)
    if found is None:
        raise ValueError("this is no data URL of an image (data:image/...;base64,...)")
    try:
        return base64.b64decode("".join(url[found.end() :].split()), validate=True)
    except ValueError:
        raise ValueError("the data URL of the image is no valid Base64") from None


def make_data_url(data: bytes) -> str:
    """Return an image as a data URL with the media type of its actual format.

    Raises:
        ValueError: If `parse_picture` raises it.
    """
    return f"data:{parse_picture(data).media_type};base64,{base64.b64encode(data).decode('ascii')}"


def part_picture_url(part: Any) -> str | None:
    """Return the URL of the image in a message part. None if the part is not an image."""
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) else None


def find_pictures(content: Any) -> Iterator[tuple[str, Picture]]:
    """Yield (URL, image) for each image that a message's content holds as a data URL."""
    for part in content if isinstance(content, list) else ():
        url = part_picture_url(part)
        with suppress(ValueError):
            if url is not None:
                yield url, parse_data_url(url)


def picture_of_url_head(url: str) -> Picture | None:
    """Return the format and dimensions of the image in a data URL. Usually only the URL's beginning is read.

    None if the URL holds no image.
    """
    found = _DATA_URL.match(url)
    if found is None:
        return None
    start = found.end()
    size = (len(url) - start) * 3 // 4 - url.endswith("=") - url.endswith("==")
    try:
        return _checked(base64.b64decode(url[start : start + _HEAD], validate=True), size)
    except ValueError:
        pass  # the dimensions may come later, after a long header
    try:
        return parse_data_url(url)
    except ValueError:
        return None


def _checked(data: bytes, size: int) -> Picture:
    found = _kind_and_sides(data)
    if found is None:
        raise ValueError("this is no PNG, JPEG, GIF or WebP image")
    kind, width, height = found
    if not width or not height:
        raise ValueError(f"the {kind} image does not say how large it is")
    if width * height > MAX_PIXELS:
        raise ValueError(f"the image has {width:,}×{height:,} pixels; {MAX_PIXELS:,} are the most")
    return Picture(kind, width, height, size)


def _kind_and_sides(data: bytes) -> tuple[str, int, int] | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        found = data[12:16] == b"IHDR"
        return "png", *((_big(data, 16, 4), _big(data, 20, 4)) if found else (0, 0))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif", _little(data, 6, 2), _little(data, 8, 2)
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg", *_jpeg_sides(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp", *_webp_sides(data)
    return None


def _jpeg_sides(data: bytes) -> tuple[int, int]:
    """Return (width, height) of a JPEG from its first frame header. Return (0, 0) if there is no frame header."""
    place = 2
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:  # a fill byte
            place += 1
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            return _big(data, place + 7, 2), _big(data, place + 5, 2)
        else:
            place += 2 + max(2, _big(data, place + 2, 2))
    return 0, 0


def _webp_sides(data: bytes) -> tuple[int, int]:
    """Return (width, height) of a WebP from its first chunk (lossy, lossless or extended).

    Return (0, 0) for another chunk.
    """
    match data[12:16]:
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
        case b"VP8L" if data[20:21] == b"\x2f" and len(data) >= 25:
            bits = _little(data, 21, 4)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X" if len(data) >= 30:
            return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    return 0, 0


def _big(data: bytes, place: int, length: int) -> int:
    return _number(data[place : place + length], length, "big")


def _little(data: bytes, place: int, length: int) -> int:
    return _number(data[place : place + length], length, "little")


def _number(field: bytes, length: int, order: Any) -> int:
    """Return the integer in a field of this length. Return 0 if the data ends within the field."""
    return int.from_bytes(field, order) if len(field) == length else 0
