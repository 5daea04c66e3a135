"""Multi-IF: verifiable instructions over three turns in eight languages (He et al. 2024, arXiv:2410.15553)."""
