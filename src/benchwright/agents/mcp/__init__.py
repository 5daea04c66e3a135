"""Evaluates a directory of MCP tools: no agent code by the user, only `main.py` with a FastMCP server."""
