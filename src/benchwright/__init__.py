"""Benchwright: evaluates and benchmarks language models and agents behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

LAZY = ("LoadedRun", "RequestRow", "TrialRow", "load_run")
"""Public names that are imported when they are asked for; `__init__.pyi` has their types."""


def __getattr__(name: str) -> Any:
    if name in LAZY:
        return getattr(import_module("benchwright.analysis.export"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
