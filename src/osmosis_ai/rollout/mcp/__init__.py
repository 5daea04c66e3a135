"""A directory of MCP tools as an agent; see `benchwright.agents.mcp`."""

from __future__ import annotations

from benchwright.agents.mcp.agent_loop import MCPAgentLoop
from benchwright.agents.mcp.loading import MCPLoadError, load_mcp_server

__all__ = ["MCPAgentLoop", "MCPLoadError", "load_mcp_server"]
