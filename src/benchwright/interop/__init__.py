"""Import of other evaluation tools' results as runs."""
