"""Comparing runs: reading the sides, checking comparability, aligning samples, and computing the figures."""
