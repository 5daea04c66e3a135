"""Finds the FastMCP server of a directory, and says in one line what is wrong when there is none."""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from benchwright.agents.loading import in_one_line
from benchwright.agents.mcp.siblings import DirectoryPackage
from benchwright.errors import UserError

if TYPE_CHECKING:
    from fastmcp import FastMCP

USUAL_NAME = "mcp"
"""The variable that holds the server in every document; taken first where `main.py` has several servers."""

_SAID_TWICE = ("fastmcp.server.server", "fastmcp.tools.tool_manager", "mcp.server.lowlevel.server")
"""Loggers that report each tool error with a traceback, though the model is told of it and the transcript kept."""


class MCPLoadError(UserError):
    """A directory of MCP tools cannot be used."""


def load_mcp_server(directory: str | os.PathLike[str]) -> FastMCP:
    """The FastMCP server that `main.py` of the directory makes; loaded afresh every time.

    `main.py` may import the files beside it by import statements, with or without a dot, also inside its
    tools (`importlib.import_module` needs the dot). It is not run as a script: `__name__` is not `__main__`.

    Raises:
        MCPLoadError: no directory, no `main.py`, no fastmcp, an error in the code, or no server in it.
    """
    folder = Path(directory).resolve()
    main = folder / "main.py"
    if not folder.is_dir():
        raise MCPLoadError(f"MCP directory does not exist: {directory}")
    if not main.is_file():
        raise MCPLoadError(f"No main.py found in MCP directory: {directory}")
    server_class = import_fastmcp(folder)
    name = "_osmosis_mcp_" + hashlib.sha256(str(folder).encode()).hexdigest()[:8]
    try:
        module = DirectoryPackage(name, folder).import_afresh("main")
    except (Exception, SystemExit) as failure:  # a user's module raises what it likes
        raise MCPLoadError(f"Error importing {main}: {in_one_line(failure)}") from failure
    return _server_in(module, server_class, main)


def import_fastmcp(folder: Path) -> type[FastMCP]:
    """Imports fastmcp, which takes a second, without its banner, its log output and its warnings.

    A folder `mcp` of the user's would be taken for the package of that name, which fastmcp needs. The working
    directory and the place where `folder` lies are therefore left out of `sys.path` meanwhile.

    Raises:
        MCPLoadError: it is not installed, or cannot be imported.
    """
    os.environ.setdefault("FASTMCP_SHOW_SERVER_BANNER", "false")
    os.environ.setdefault("FASTMCP_LOG_ENABLED", "false")
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)  # or else it reads a .env file by itself
    users = {Path.cwd(), folder.parent}
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if Path(entry).resolve() not in users]
    try:
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("ignore")
            from fastmcp import FastMCP

            import_module("fastmcp.client")  # newer versions import it only when it is asked for
    except Exception as failure:  # an old fastmcp with a new pydantic raises more than ImportError
        if isinstance(failure, ModuleNotFoundError) and failure.name == "fastmcp":
            raise MCPLoadError(
                "MCP tools need fastmcp. Install it with: pip install 'benchwright[mcp]'"
            ) from None
        raise MCPLoadError(f"fastmcp cannot be imported: {in_one_line(failure)}") from failure
    finally:
        sys.path[:] = path
    if not logging.getLogger().isEnabledFor(logging.DEBUG):
        for name in _SAID_TWICE:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    server_class: type[FastMCP] = FastMCP
    return server_class


def _server_in(module: ModuleType, server_class: type[FastMCP], main: Path) -> FastMCP:
    servers = {name: value for name, value in vars(module).items() if isinstance(value, server_class)}
    if not servers:
        raise MCPLoadError(
            f"No FastMCP instance found in {main}. Make one with "
            f'`from fastmcp import FastMCP` and `{USUAL_NAME} = FastMCP("my_tools")`.'
        )
    return servers[USUAL_NAME if USUAL_NAME in servers else min(servers)]
