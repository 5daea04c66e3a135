"""HumanEval: Python functions to be written from their docstrings (Chen et al. 2021, arXiv:2107.03374)."""
