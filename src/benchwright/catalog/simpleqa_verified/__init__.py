"""SimpleQA Verified: 1,000 of SimpleQA's questions, revised (Haas et al. 2025, arXiv:2509.07968)."""
