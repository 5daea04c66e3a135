"""Documented import path of the metrics of requests and runs, and of pass@k and confidence intervals."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.metrics import (
    AggregatedMetrics,
    RequestMetrics,
    aggregate_metrics,
    compute_pass_at_k,
    confidence_interval_95,
)

__all__ = [
    "AggregatedMetrics",
    "RequestMetrics",
    "aggregate_metrics",
    "compute_pass_at_k",
    "confidence_interval_95",
]
