"""Documented import path of `InstrumentedClient`, the client that measures requests to a model."""

from __future__ import annotations

from benchwright.catalog.documented.client import InstrumentedClient
from benchwright.catalog.documented.metrics import RequestMetrics

__all__ = ["InstrumentedClient", "RequestMetrics"]
