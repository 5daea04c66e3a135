"""Compares runs.

The package reads the sides of a comparison (A, B, ...), checks whether they are comparable, aligns their
samples, and computes the figures.
"""
