"""LiveCodeBench: problems from programming contests, by the contest's date (Jain et al. 2024, arXiv:2403.07974)."""
