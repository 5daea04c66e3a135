"""The Python API.

It uses the same settings as the commands, launches runs in the same way, and returns the same results.
"""
