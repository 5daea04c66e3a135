"""Benchwright: evaluates and benchmarks language models and agents behind any OpenAI-compatible endpoint."""

# Nothing is imported up here: `python -m benchwright` comes by before the working directory leaves `sys.path`.

__version__ = "0.1.0"

LAZY = ("LoadedRun", "RequestRow", "TrialRow", "load_run")
"""Public names that are imported when they are asked for; `__init__.pyi` has their types."""


def __getattr__(name: str) -> object:
    if name in LAZY:
        from importlib import import_module

        return getattr(import_module("benchwright.analysis.export"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
