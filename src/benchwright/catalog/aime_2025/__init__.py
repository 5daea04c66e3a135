"""AIME 2025, both parts. An answer is a whole number from 0 to 999."""
