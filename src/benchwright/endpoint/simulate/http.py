"""What the simulated endpoint's responses have in common."""

from __future__ import annotations

from benchwright.endpoint.meter import SIMULATED_HEADER
from benchwright.endpoint.serving.http import Headers

EVENT_STREAM = b"text/event-stream; charset=utf-8"
PLAIN_TEXT = b"text/plain; version=0.0.4; charset=utf-8"

COMMON: Headers = ((b"server", b"benchwright-simulate"), (SIMULATED_HEADER, b"1"))
"""Headers of every response."""
