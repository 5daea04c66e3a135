"""Composing and launching: what the command line, the viewer and the Python API share."""
