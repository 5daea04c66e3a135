"""Other programs on the same work: `python -m benchmarks --peers`. Each lives in an environment of its own."""
