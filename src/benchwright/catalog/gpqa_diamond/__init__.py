"""GPQA Diamond: graduate-level questions confirmed by experts (Rein et al. 2023, arXiv:2311.12022)."""
