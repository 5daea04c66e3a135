"""Builds the SWE-bench Multilingual benchmark."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from benchwright.catalog.benchmark import About, Benchmark, Options
from benchwright.catalog.containers.exploits import REPOSITORY_EXPLOITS, SCRIPT_EXPLOIT
from benchwright.catalog.containers.network_rules import read_network_rules
from benchwright.catalog.swe_bench.benchmark import make_edition_benchmark
from benchwright.catalog.swe_bench_multilingual.edition import (
    MEMORY_GIB,
    MULTILINGUAL_EDITION,
    UNFILTERED_NETWORK_DEPARTURE,
)
from benchwright.catalog.swe_bench_multilingual.rows import samples
from benchwright.sandbox.docker.containers import GiB


def make(about: About, options: Options) -> Benchmark:
    """Build the benchmark with its options.

    Raises:
        UserError: If an option cannot be used, or the predictions cannot be read.
    """
    memory = options.integer("memory_gib", MEMORY_GIB, 1)
    resources = msgspec.structs.replace(MULTILINGUAL_EDITION.resources, memory_bytes=memory * GiB)
    edition = msgspec.structs.replace(MULTILINGUAL_EDITION, resources=resources)
    exploits, departures = (*REPOSITORY_EXPLOITS, SCRIPT_EXPLOIT), _departures(options, memory)
    return make_edition_benchmark(about, options, edition, samples, exploits=exploits, departures=departures)


def _departures(options: Options, memory: int) -> Iterator[str]:
    if options.sealed and read_network_rules(options).uses_proxy([True]):
        yield UNFILTERED_NETWORK_DEPARTURE
    if memory != MEMORY_GIB:
        yield f"{memory} GiB of memory in place of {MEMORY_GIB}"
