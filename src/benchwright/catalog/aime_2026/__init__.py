"""AIME 2026, both parts: an answer is a whole number from 0 to 999."""
