"""Leaderboards: any runs as rows, what they were asked as columns, and which differences the data can tell."""
