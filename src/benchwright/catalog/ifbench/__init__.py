"""IFBench: 58 further kinds of instructions that a program verifies (Pyatkin et al. 2025, arXiv:2507.02833)."""
