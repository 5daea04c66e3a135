"""The documented import path of `DockerBenchmark`, the base class of benchmarks that run in containers."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.docker_benchmark import DockerBenchmark

__all__ = ["DockerBenchmark"]
