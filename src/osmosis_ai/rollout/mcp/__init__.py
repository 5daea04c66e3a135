"""Documented import path of the agent whose tools are a directory of MCP tools; see `benchwright.agents.mcp`."""

from __future__ import annotations

from benchwright.agents.mcp.agent_loop import MCPAgentLoop
from benchwright.agents.mcp.loading import MCPLoadError, load_mcp_server

__all__ = ["MCPAgentLoop", "MCPLoadError", "load_mcp_server"]
