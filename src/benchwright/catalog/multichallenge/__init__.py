"""MultiChallenge: chats whose last turn depends on earlier ones (Sirdeshmukh et al. 2025, arXiv:2501.17399).
"""
