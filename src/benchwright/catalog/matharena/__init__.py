"""What AIME and HMMT share: how MathArena asks, reads and compares (Balunović et al. 2025, arXiv:2505.23281)."""
