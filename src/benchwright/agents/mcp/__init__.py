"""Evaluates models with a directory of MCP tools: a `main.py` with a FastMCP server instead of agent code."""
