"""Judges of finished runs: their verdicts compared with people's labels, and tested for what should not matter."""
