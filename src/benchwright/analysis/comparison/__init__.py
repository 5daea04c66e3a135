"""Comparing runs: read the sides (A, B, ...), check comparability, align samples, compute the figures."""
