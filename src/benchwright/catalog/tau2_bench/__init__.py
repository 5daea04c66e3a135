"""tau2-bench: customer service where agent and user both have tools (Barres et al. 2025, arXiv:2506.07982)."""
