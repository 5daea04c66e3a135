"""Leaderboards: runs as rows and the scores of tasks as columns. Tests show which differences are significant."""
