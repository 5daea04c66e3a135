"""Evaluates a directory of MCP tools: no agent code of the user's, only `main.py` with a FastMCP server."""
