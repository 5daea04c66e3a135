"""Code that runs in a container: single files on the standard library alone, passed to Python as text."""
