"""Converts messages from other formats to the OpenAI format."""

from __future__ import annotations

import json
from typing import Any

from benchwright.interop.untrusted_files import objects_in_list, text_or_empty


def openai_tool_call(identifier: str, name: str, arguments: Any) -> dict[str, Any]:
    """Return a tool call in the OpenAI format. Arguments that are not text are encoded as JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": written}}


def content_as_text(content: Any) -> str:
    """Return the content of a message as text. A part that is not text is replaced by its type."""
    if isinstance(content, list):
        return "\n".join(
            text_or_empty(part.get("text")) or f"[{part.get('type')}]" for part in objects_in_list(content)
        )
    return text_or_empty(content)
