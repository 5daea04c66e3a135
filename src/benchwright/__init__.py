"""Benchwright: evaluates and benchmarks language models and agents behind any OpenAI-compatible endpoint.

from benchwright import evaluate

result = evaluate("questions.jsonl", "my-model", scorer="mcq", base_url="http://localhost:8000/v1")
"""

# Import nothing here: `python -m benchwright` runs this module before it removes the working directory from
# `sys.path`.

__version__ = "0.1.0"

LAZY_EXPORTS = {
    "benchwright.api.evaluating": ("evaluate", "evaluate_async"),
    "benchwright.api.benchmarking": ("run_benchmark", "run_benchmark_async"),
    "benchwright.api.comparing": ("compare",),
    "benchwright.api.checking": ("check", "check_async"),
    "benchwright.api.results": ("BenchmarkRun", "Evaluation"),
    "benchwright.app.benchmark_results": ("BenchmarkReport",),
    "benchwright.analysis.export": ("LoadedRun", "RequestRow", "TrialRow", "load_run"),
    "benchwright.endpoint.card": ("Card", "Finding"),
    "benchwright.engine.protocols": ("Score", "Scorer", "Session", "Solver", "Task"),
    "benchwright.records": ("Outcome", "Sample", "Status", "TaskSpec", "Trial"),
    "benchwright.statistic": ("NoScore", "Statistic"),
    "benchwright.errors": ("BenchwrightError", "JournalError", "ProviderError", "RunUnfinished", "UserError"),
}
"""Mapping from a module to the public names that it defines.

A module is imported when one of its names is first used. `__init__.pyi` has the types.
"""

__all__ = ["__version__", "runs", *(name for names in LAZY_EXPORTS.values() for name in names)]


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "runs":
        return import_module("benchwright.runs")
    for module, names in LAZY_EXPORTS.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
