"""The benchmarks by name; importing a module of this package registers what is in it."""

# ruff: noqa: F401 -- the modules are imported to be registered

from __future__ import annotations

from benchwright.catalog.documented.registry import get_benchmark, list_benchmarks, register

from . import (
    bfcl,
    graphwalks,
    hle,
    humaneval,
    ifeval,
    longbench_v2,
    mmlu,
    mmlu_pro,
    mrcr,
    multi_if,
    swe_bench,
    swe_bench_pro,
    tau_bench,
    terminal_bench,
)

__all__ = ["get_benchmark", "list_benchmarks", "register"]
