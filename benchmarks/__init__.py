"""Measurements of Benchwright itself: `python -m benchmarks`."""
