"""Datasets: rows read from files, and the columns that an evaluation needs."""
