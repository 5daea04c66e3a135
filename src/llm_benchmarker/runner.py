"""Documented import path of `BenchmarkRunner`, which runs a benchmark against a model."""

from __future__ import annotations

from benchwright.catalog.documented.runner import BenchmarkRunner

__all__ = ["BenchmarkRunner"]
