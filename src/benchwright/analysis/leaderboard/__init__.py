"""Leaderboards: runs as rows, task scores as columns, with tests of which differences are significant."""
