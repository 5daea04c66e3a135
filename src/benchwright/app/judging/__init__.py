"""Judges (LLM graders) of finished runs: comparison with human labels, tests for irrelevant influences on verdicts."""
