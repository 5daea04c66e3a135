"""Parts shared by ARC-AGI-1 and -2: puzzles with grids that a rule transforms (Chollet 2019,
arXiv:1911.01547).
"""
