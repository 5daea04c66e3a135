"""Compares runs: reads the sides (A, B, ...), checks whether they are comparable, aligns samples, computes the
figures.
"""
