"""Leaderboards as terminal text, Markdown, LaTeX and CSV."""
