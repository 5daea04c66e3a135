"""Imports the results of other evaluation tools as runs."""
