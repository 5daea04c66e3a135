"""LiveCodeBench: problems from dated programming contests (Jain et al. 2024, arXiv:2403.07974)."""
