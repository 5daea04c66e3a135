"""Parts of messages in the OpenAI format, made of what other formats have."""

from __future__ import annotations

import json
from typing import Any


def openai_call(identifier: str, name: str, arguments: Any) -> dict[str, Any]:
    """A call of a tool; arguments that are not text are written as JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": identifier, "type": "function", "function": {"name": name, "arguments": written}}
