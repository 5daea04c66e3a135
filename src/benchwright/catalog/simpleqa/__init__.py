"""SimpleQA: short questions about facts, each with one answer (Wei et al. 2024, arXiv:2411.04368)."""
