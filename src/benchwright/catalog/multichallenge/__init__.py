"""MultiChallenge: the last turn of conversations in which models forget (Sirdeshmukh et al. 2025, arXiv:2501.17399)."""
