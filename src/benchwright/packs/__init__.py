"""Bench Packs (benchmarks by Bench Protocol v1): installed, configured, and run. Each runs in its own process."""
