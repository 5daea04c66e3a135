"""Results of other evaluation tools: their files read as runs."""
