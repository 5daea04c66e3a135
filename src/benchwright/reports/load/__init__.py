"""Load measurements in words and tables."""
