"""Evaluates models with a directory of MCP tools.

The directory contains a `main.py` that creates a FastMCP server. It takes the place of an agent written by
the user.
"""
