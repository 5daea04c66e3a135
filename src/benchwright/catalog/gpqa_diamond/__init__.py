"""GPQA Diamond: graduate-level questions on whose answers experts agree (Rein et al. 2023, arXiv:2311.12022)."""
