"""MultiChallenge: chats whose end depends on earlier turns (Sirdeshmukh et al. 2025, arXiv:2501.17399)."""
