"""Parts of messages in the OpenAI format, made of what other formats have."""

from __future__ import annotations

import json
from typing import Any

from benchwright.interop.reading import objects, text


def openai_call(identifier: str, name: str, arguments: Any) -> dict[str, Any]:
    """A call of a tool; arguments that are not text are written as JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": written}}


def content_of(content: Any) -> str:
    """The content of a message as text; a part that is not text is told by its type."""
    if isinstance(content, list):
        return "\n".join(text(part.get("text")) or f"[{part.get('type')}]" for part in objects(content))
    return text(content)
