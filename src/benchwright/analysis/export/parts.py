"""Messages with pictures, as formats have them that can hold both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchwright.engine.answers import content_text
from benchwright.pictures import url_of_part


def texts_and_pictures(content: Any) -> list[tuple[str, str | None]]:
    """The parts of a message's content in their order, (text, None) or ("", address of a picture).

    Empty where it has no pictures: then it is text.
    """
    parts = list(_parts(content)) if isinstance(content, list) else []
    return parts if any(url is not None for _, url in parts) else []


def _parts(content: list[Any]) -> Iterator[tuple[str, str | None]]:
    for part in content:
        url = url_of_part(part)
        if url is not None:
            yield "", url
        elif isinstance(part, dict):
            yield content_text([part]), None
