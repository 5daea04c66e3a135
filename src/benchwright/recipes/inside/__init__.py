"""Code that runs in a container: files that use only the standard library, passed to Python as text."""
