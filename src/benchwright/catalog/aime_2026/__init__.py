"""AIME 2026, both parts. An answer is a whole number from 0 to 999."""
