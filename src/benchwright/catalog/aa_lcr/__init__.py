"""AA-LCR: questions about sets of long documents (Artificial Analysis, 2025)."""
