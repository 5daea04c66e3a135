"""SWE-bench Verified."""

from __future__ import annotations

from benchwright.catalog.documented.docker_benchmark import DockerBenchmark
from benchwright.catalog.documented.from_catalog import CatalogBenchmark

__all__ = ["SWEBenchBenchmark"]


class SWEBenchBenchmark(CatalogBenchmark, DockerBenchmark):
    """SWE-bench Verified; the limits are those of its documented variant."""

    name = "swe_bench"
    tier = 4
    description = "SWE-bench Verified — 500 real-world SE tasks in Docker"
