"""Documented import path of the benchmarks, and of the functions that list, find and register them.

The module of a benchmark is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from benchwright.catalog.llm_benchmarker_api.registry import get_benchmark, list_benchmarks, register
from benchwright.catalog.registry import DOCUMENTED_BENCHMARKS

__all__ = ["get_benchmark", "list_benchmarks", "register"]


def __getattr__(name: str) -> ModuleType:
    if name in DOCUMENTED_BENCHMARKS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
