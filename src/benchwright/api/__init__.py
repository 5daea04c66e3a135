"""The Python API: the same settings, launch and results as the commands."""
