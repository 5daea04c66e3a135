"""What a leaderboard looks like: in words, as text, Markdown, LaTeX and CSV."""
