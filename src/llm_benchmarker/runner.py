"""Documented import path of `BenchmarkRunner`, which runs a benchmark against a model."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.runner import BenchmarkRunner

__all__ = ["BenchmarkRunner"]
