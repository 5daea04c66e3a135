"""Dialects: APIs other than chat completions, translated into chat completions and back.

The dialects are Anthropic's Messages, OpenAI's Responses and Google's Gemini. All code here is pure: it turns
JSON objects into JSON objects or events.
"""

from benchwright.endpoint.dialects.conversation import UntranslatableRequest
from benchwright.endpoint.dialects.dialect_table import (
    DIALECTS,
    GEMINI,
    MESSAGES,
    RESPONSES,
    Dialect,
    ResponseReader,
)
from benchwright.endpoint.dialects.translation import AnswerTranslator

__all__ = [
    "DIALECTS",
    "GEMINI",
    "MESSAGES",
    "RESPONSES",
    "AnswerTranslator",
    "Dialect",
    "ResponseReader",
    "UntranslatableRequest",
]
