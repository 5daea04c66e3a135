"""Documented import path of the classes from which users build their own benchmarks."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.base import (
    BaseBenchmark,
    BenchmarkResult,
    BenchmarkSample,
    SampleResult,
)

__all__ = ["BaseBenchmark", "BenchmarkResult", "BenchmarkSample", "SampleResult"]
