"""Bench Packs (benchmarks by Bench Protocol v1): installed, configured and run, each in its own process."""
