"""The benchmarks by name; importing a module of this package registers what is in it.

The catalog's own modules are imported when one of them is asked for, or when anything is registered or looked up.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from benchwright.catalog.documented.registry import (
    get_benchmark,
    list_benchmarks,
    register,
    register_later,
)

__all__ = ["get_benchmark", "list_benchmarks", "register"]

_MODULES = (
    *(
        "bfcl",
        "graphwalks",
        "hle",
        "humaneval",
        "ifeval",
        "longbench_v2",
        "mmlu",
        "mmlu_pro",
        "mrcr",
        "multi_if",
    ),
    *("swe_bench", "swe_bench_pro", "tau_bench", "terminal_bench"),
)


def __getattr__(name: str) -> ModuleType:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@register_later
def _import_modules() -> None:
    for name in _MODULES:
        import_module(f"{__name__}.{name}")
