"""Parts shared by ARC-AGI-1 and -2: grids transformed by a rule (Chollet 2019, arXiv:1911.01547)."""
