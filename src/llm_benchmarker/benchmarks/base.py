"""Documented import path of the classes from which users build their own benchmarks."""

from __future__ import annotations

from benchwright.catalog.documented.base import BaseBenchmark, BenchmarkResult, BenchmarkSample, SampleResult

__all__ = ["BaseBenchmark", "BenchmarkResult", "BenchmarkSample", "SampleResult"]
