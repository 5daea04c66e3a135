"""Datasets: rows read from files, and the columns an evaluation needs of them."""
