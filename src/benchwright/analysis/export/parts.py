"""Messages with pictures, as formats have them that can hold both."""

from __future__ import annotations

from typing import Any

from benchwright.engine.answers import content_text
from benchwright.pictures import url_of_part


def texts_and_pictures(content: Any) -> list[tuple[str, str | None]]:
    """The parts of a message's content in their order: (text, None), or what a picture is and its address.

    Empty where it has no pictures: then it is text.
    """
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    found = [(content_text([part]), url_of_part(part)) for part in parts]
    return found if any(url is not None for _, url in found) else []
