"""Benchwright: evaluates and benchmarks language models and agents behind any OpenAI-compatible endpoint."""

__version__ = "0.1.0"
