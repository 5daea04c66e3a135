"""Request fields for reasoning effort and thinking budget, for each kind of server."""

from __future__ import annotations

from benchwright.endpoint.reasoning_effort.servers import DetectedStyle, style_of_host, style_of_server
from benchwright.endpoint.reasoning_effort.styles import REQUEST_STYLES, ReasoningSettings, body_fields

__all__ = [
    "REQUEST_STYLES",
    "DetectedStyle",
    "ReasoningSettings",
    "body_fields",
    "style_of_host",
    "style_of_server",
]
