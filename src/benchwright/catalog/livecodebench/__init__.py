"""LiveCodeBench: programming problems of contests, by the date of the contest (Jain et al. 2024, arXiv:2403.07974)."""
