"""Request fields for reasoning effort and thinking budget, for each kind of server."""

from __future__ import annotations

from benchwright.endpoint.thinking.servers import FoundStyle, style_of_host, style_of_server
from benchwright.endpoint.thinking.styles import STYLES, Thinking, body_fields

__all__ = ["STYLES", "FoundStyle", "Thinking", "body_fields", "style_of_host", "style_of_server"]
