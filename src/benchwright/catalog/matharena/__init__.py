"""MathArena's prompts, parser and comparison, for AIME and HMMT (Balunović et al. 2025, arXiv:2505.23281)."""
