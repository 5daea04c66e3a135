"""Documented import path of the benchmark SWE-bench Verified."""

from __future__ import annotations

from benchwright.catalog.llm_benchmarker_api.docker_benchmark import DockerBenchmark
from benchwright.catalog.llm_benchmarker_api.from_catalog import CatalogBenchmark

__all__ = ["SWEBenchBenchmark"]


class SWEBenchBenchmark(CatalogBenchmark, DockerBenchmark):
    """The benchmark SWE-bench Verified of the catalog, with the limits of its documented variant."""

    name = "swe_bench"
    tier = 4
    description = "SWE-bench Verified — 500 real-world SE tasks in Docker"
