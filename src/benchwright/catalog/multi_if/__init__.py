"""Multi-IF: verifiable instructions, three turns, eight languages (He et al. 2024, arXiv:2410.15553)."""
