"""Pictures in messages: what they are by their own first bytes, and as data URLs. Nothing is decoded.

PNG (https://www.w3.org/TR/png-3/), JPEG (ITU-T T.81), GIF (https://www.w3.org/Graphics/GIF/spec-gif89a.txt) and WebP
(RFC 9649): the four that chat completions take.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from benchwright.records import Record

MOST_BYTES = 64 * 2**20
"""How large a picture may be; servers take 5 to 20 MB."""

MOST_PIXELS = 178_956_970
"""Of how many pixels: Pillow, by which most other programs read pictures, refuses more."""

TOKEN_SIDE = 28
MOST_TOKENS = 16_384
"""Of how many pixels the square is that a token stands for, and the most tokens of a picture: as in Qwen2.5-VL
(arXiv:2502.13923)."""

_DATA_URL = re.compile(r"data:(image/[a-z+.-]{1,30});base64,", re.IGNORECASE)
_HEAD = 64 * 2**10
"""Characters of a data URL in which the size of nearly all pictures stands."""

_NO_FRAME = (0xC4, 0xC8, 0xCC)
"""Markers of JPEG among those of frames that begin none."""


class Picture(Record, frozen=True):
    """A picture: its kind (`png`, `jpeg`, `gif`, `webp`), width and height in pixels, and size in bytes."""

    kind: str
    width: int
    height: int
    size: int

    @property
    def media_type(self) -> str:
        """The media type."""
        return f"image/{self.kind}"

    @property
    def tokens(self) -> int:
        """About how many tokens of a prompt it takes; models differ by a factor of 2 and more."""
        across, down = (-(-side // TOKEN_SIDE) for side in (self.width, self.height))
        return min(across * down, MOST_TOKENS)

    def __str__(self) -> str:
        size = f"{self.size / 1e6:.1f} MB" if self.size >= 1e6 else f"{max(1, round(self.size / 1e3))} kB"
        return f"[image {self.kind} {self.width}×{self.height}, {size}]"


def picture_of(data: bytes) -> Picture:
    """What these bytes are, whatever name they came under.

    Raises:
        ValueError: they are no picture of the four kinds, it is cut off before its size, or it is too large.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"the image has {len(data):,} bytes; {MOST_BYTES:,} are the most")
    return _checked(data, len(data))


def picture_in_url(url: str) -> Picture:
    """The picture of a data URL, by its bytes and not by what the URL says that it is.

    Raises:
        ValueError: it is no data URL of a picture, or as for `picture_of`.
    """
    return picture_of(bytes_of_url(url))


def bytes_of_url(url: str) -> bytes:
    """The bytes that a data URL of an image holds.

    Raises:
        ValueError: it is none.
    """
    found = _DATA_URL.match(url)
    if found is None:
        raise ValueError("this is no data URL of an image (data:image/...;base64,...)")
    try:
        return base64.b64decode("".join(url[found.end() :].split()), validate=True)
    except ValueError:
        raise ValueError("the data URL of the image is no valid Base64") from None


def data_url(data: bytes) -> str:
    """A picture as a data URL, with the media type that it is of.

    Raises:
        ValueError: as for `picture_of`.
    """
    return f"data:{picture_of(data).media_type};base64,{base64.b64encode(data).decode('ascii')}"


def url_of_part(part: Any) -> str | None:
    """The address of the picture in a part of a message; None where it is another part."""
    image = part.get("image_url") if isinstance(part, dict) else None
    url = image.get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) else None


def pictures_of(content: Any) -> Iterator[tuple[str, Picture]]:
    """The pictures that a message's content carries as data URLs, each with its URL."""
    for part in content if isinstance(content, list) else ():
        url = url_of_part(part)
        with suppress(ValueError):
            if url is not None:
                yield url, picture_in_url(url)


def seen_in_url(url: str) -> Picture | None:
    """What a data URL begins as, mostly without reading on behind its beginning; None where that is no picture."""
    found = _DATA_URL.match(url)
    if found is None:
        return None
    start = found.end()
    size = (len(url) - start) * 3 // 4 - url.endswith("=") - url.endswith("==")
    try:
        return _checked(base64.b64decode(url[start : start + _HEAD], validate=True), size)
    except ValueError:
        pass  # the size may stand further on, behind a long head
    try:
        return picture_in_url(url)
    except ValueError:
        return None


def _checked(data: bytes, size: int) -> Picture:
    found = _kind_and_sides(data)
    if found is None:
        raise ValueError("this is no PNG, JPEG, GIF or WebP image")
    kind, width, height = found
    if not width or not height:
        raise ValueError(f"the {kind} image does not say how large it is")
    if width * height > MOST_PIXELS:
        raise ValueError(f"the image has {width:,}×{height:,} pixels; {MOST_PIXELS:,} are the most")
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
    """(width, height) as the first frame says; (0, 0) without one."""
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
    """(width, height) as the first chunk says: lossy, lossless or extended; (0, 0) for another."""
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
    """0 where the field is cut off."""
    return int.from_bytes(field, order) if len(field) == length else 0
