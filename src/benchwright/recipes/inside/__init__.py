"""Code that runs in a container: single files that use only the standard library, passed to Python as text.
"""
