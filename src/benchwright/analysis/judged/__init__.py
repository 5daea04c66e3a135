"""Scores that a judge gave: who it was, and what people's labels say of it."""
