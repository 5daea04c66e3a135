"""Judges of finished runs: comparison with human labels, and tests for irrelevant influences on verdicts."""
