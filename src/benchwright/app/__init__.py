"""Composition and launch of runs, shared by the command line, the viewer and the Python API."""
