"""Documented import path of the benchmark Terminal-Bench."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.docker_benchmark import DockerBenchmark
from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["TerminalBenchBenchmark"]


class TerminalBenchBenchmark(CatalogBenchmark, DockerBenchmark):
    """The benchmark Terminal-Bench of the catalog, with the limits of its documented variant."""

    name = "terminal_bench"
    tier = 4
    description = "Terminal-Bench — 89 CLI tasks executed in Docker containers"
    docker_image = "ubuntu:22.04"
    max_turns = 15
    max_tokens = 1024
