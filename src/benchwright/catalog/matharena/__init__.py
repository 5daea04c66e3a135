"""Parts shared by AIME and HMMT: MathArena's prompts, parser and comparison (Balunović et al. 2025,
arXiv:2505.23281).
"""
