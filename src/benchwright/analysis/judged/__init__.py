"""Scores from a judge: its identity, and its certificate from human labels."""
