"""IFBench: 58 further kinds of verifiable instructions (Pyatkin et al. 2025, arXiv:2507.02833)."""
