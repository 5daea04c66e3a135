"""Request fields for reasoning effort and thinking budget, for each kind of server."""

from __future__ import annotations

from benchwright.endpoint.reasoning_effort.servers import FoundStyle, style_of_host, style_of_server
from benchwright.endpoint.reasoning_effort.styles import STYLES, ReasoningSettings, body_fields

__all__ = ["STYLES", "FoundStyle", "ReasoningSettings", "body_fields", "style_of_host", "style_of_server"]
