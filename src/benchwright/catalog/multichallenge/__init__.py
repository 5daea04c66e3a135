"""MultiChallenge: last turns that depend on earlier ones (Sirdeshmukh et al. 2025, arXiv:2501.17399)."""
