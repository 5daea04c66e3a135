"""The benchmarks by name.

The modules of the catalog's benchmarks are imported when one of them is asked for.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from benchwright.catalog.documented.registry import get_benchmark, list_benchmarks, register
from benchwright.catalog.registry import DOCUMENTED

__all__ = ["get_benchmark", "list_benchmarks", "register"]


def __getattr__(name: str) -> ModuleType:
    if name in DOCUMENTED:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
