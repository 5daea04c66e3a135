"""Leaderboards: any runs as rows, tasks and scores as columns, with tests of which differences are significant."""
