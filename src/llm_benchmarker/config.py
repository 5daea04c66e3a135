"""Documented import path of the settings classes of runs, benchmarks and vLLM."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.config import BenchmarkConfig, RunConfig, VLLMConfig

__all__ = ["BenchmarkConfig", "RunConfig", "VLLMConfig"]
