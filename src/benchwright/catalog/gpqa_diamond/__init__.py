"""GPQA Diamond: questions of graduate students that experts agree on (Rein et al. 2023, arXiv:2311.12022)."""
