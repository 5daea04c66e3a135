"""Evaluates models with a directory of MCP tools.

Its `main.py`, with a FastMCP server, takes the place of agent code.
"""
