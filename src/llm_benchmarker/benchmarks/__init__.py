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
from benchwright.catalog.registry import ROOMS

__all__ = ["get_benchmark", "list_benchmarks", "register"]


def __getattr__(name: str) -> ModuleType:
    if name in ROOMS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@register_later
def _import_modules() -> None:
    for name in ROOMS:
        import_module(f"{__name__}.{name}")
