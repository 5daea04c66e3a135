"""Parts that ARC-AGI-1 and -2 share: grids transformed by a rule (Chollet 2019, arXiv:1911.01547)."""
