"""The Python interface that llm-benchmarker's document describes.

The package `llm_benchmarker` re-exports it from here.
"""
