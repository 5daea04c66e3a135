"""Contents of messages with images, for formats that can hold text and images."""

from __future__ import annotations

from typing import Any

from benchwright.engine.answers import content_text
from benchwright.pictures import part_picture_url


def texts_and_pictures(content: Any) -> list[tuple[str, str | None]]:
    """Return the parts of a message's content, in order.

    A text is (text, None); an image is (description, URL). Return an empty list if there are no images, because
    the content is then plain text.
    """
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    found = [(content_text([part]), part_picture_url(part)) for part in parts]
    return found if any(url is not None for _, url in found) else []
