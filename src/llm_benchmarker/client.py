"""Documented import path of `InstrumentedClient`, the client that measures requests to a model."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.client import InstrumentedClient
from benchwright.catalog.llm_benchmarker_api.metrics import RequestMetrics

__all__ = ["InstrumentedClient", "RequestMetrics"]
