"""Dialects: other APIs than chat completions, translated into chat completions and back.

They are Anthropic's Messages, OpenAI's Responses and Google's Gemini. Everything here is pure: JSON objects
in, JSON objects or events out.
"""

from benchwright.endpoint.dialects.conversation import NotTranslated
from benchwright.endpoint.dialects.dialect_table import (
    DIALECTS,
    GEMINI,
    MESSAGES,
    RESPONSES,
    Dialect,
    ResponseReader,
)
from benchwright.endpoint.dialects.translation import Translation

__all__ = [
    "DIALECTS",
    "GEMINI",
    "MESSAGES",
    "RESPONSES",
    "Dialect",
    "NotTranslated",
    "ResponseReader",
    "Translation",
]
