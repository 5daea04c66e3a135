"""Comparing runs: reading the sides, whether they may be compared, aligning them, and the figures."""
