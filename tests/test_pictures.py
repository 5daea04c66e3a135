"""Pictures are what their own first bytes say, and not what they are called."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.drawn import gif, jpeg, png, segment, shown, url, webp

from benchwright.engine.answers import content_text
from benchwright.pictures import (
    MAX_BYTES,
    MAX_TOKENS,
    Picture,
    find_pictures,
    make_data_url,
    parse_data_url,
    parse_picture,
    picture_of_url_head,
)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png(1, 640, 480), "png"),
        (jpeg(640, 480), "jpeg"),
        (jpeg(640, 480, segment(0xE1, 60_000) * 3 + b"\xff" + segment(0xC4, 20)), "jpeg"),
        (gif(640, 480), "gif"),
        (webp(b"VP8 ", 640, 480), "webp"),
        (webp(b"VP8L", 640, 480), "webp"),
        (webp(b"VP8X", 640, 480), "webp"),
    ],
)
def test_kind_and_size_are_read_from_the_head(data: bytes, kind: str) -> None:
    found = parse_picture(data)
    assert found == Picture(kind, 640, 480, len(data))
    assert parse_data_url(url(data, "image/svg+xml")) == picture_of_url_head(url(data, "image/gif")) == found
    assert make_data_url(data) == url(data, f"image/{kind}")


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "no PNG, JPEG, GIF or WebP"),
        (b"", "no PNG, JPEG, GIF or WebP"),
        (png(1)[:20], "does not say how large"),
        (jpeg(640, 480)[:-8], "does not say how large"),
        (b"\xff\xd8\xff\xda\0\0" * 9, "does not say how large"),
        (webp(b"VP8L", 1, 1).replace(b"VP8L", b"ALPH"), "does not say how large"),
        (
            png(1, 2, 1).replace(struct.pack(">II", 2, 1), struct.pack(">II", 60_000, 60_000)),
            "60,000×60,000 pixels",
        ),
        (png(1) + bytes(MAX_BYTES), "67,108,864 are the most"),
    ],
)
def test_what_is_no_picture_or_too_large_is_refused_and_not_decoded(data: bytes, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        parse_picture(data)


@pytest.mark.parametrize(
    "text", ["https://example.org/a.png", "data:text/html;base64,PHA+", "data:image/png;base64,%"]
)
def test_other_addresses_hold_no_picture(text: str) -> None:
    assert picture_of_url_head(text) is None
    with pytest.raises(ValueError, match="data URL"):
        parse_data_url(text)


@given(
    st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF1234WEBPVP8 "]),
    st.binary(max_size=40),
)
def test_any_bytes_are_a_picture_or_are_refused(opening: bytes, rest: bytes) -> None:
    try:
        found = parse_picture(opening + rest)
    except ValueError:
        return
    assert found.width > 0
    assert found.height > 0


def test_a_message_tells_its_pictures_by_kind_and_size() -> None:
    content = [
        {"type": "text", "text": "Which is it?"},
        shown(url(png(1, 640, 480))),
        shown(url(png(1) + bytes(2_340_000))),
        shown("https://example.org/a.png"),
        shown(url(png(1)) + "%%"),
        {"type": "input_audio"},
    ]
    assert content_text(content) == (
        "Which is it?\n[image png 640×480, 2 kB]\n[image png 3×2, 2.3 MB]\n[image_url]\n[image_url]\n[input_audio]"
    )
    content.append(shown(url(png(1) + bytes(90_000)) + "%%"))  # damaged far behind its head
    assert [picture.width for _, picture in find_pictures(content)] == [640, 3]


def test_tokens_are_estimated_from_the_size() -> None:
    assert parse_picture(png(1, 280, 29)).tokens == 10 * 2
    assert parse_picture(gif(9_000, 9_000)).tokens == MAX_TOKENS
