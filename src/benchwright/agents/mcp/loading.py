"""Loads the FastMCP server of a directory. Each error is described in one line."""

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

from benchwright.agents.loading import describe_error
from benchwright.agents.mcp.directory_package import DirectoryPackage
from benchwright.errors import UserError
from benchwright.optional_libraries import importing

if TYPE_CHECKING:
    from fastmcp import FastMCP

PREFERRED_SERVER_NAME = "mcp"
"""Usual name of the variable that contains the server.

If `main.py` has several servers, the one in this variable is used. If there is none in this variable, the
server whose variable comes first in the alphabet is used.
"""

_SAID_TWICE = ("fastmcp.server.server", "fastmcp.tools.tool_manager", "mcp.server.lowlevel.server")
"""Names of loggers that are silenced, because they print a traceback for each error of a tool.

The error is reported anyway: to the model, and in the trial's conversation.
"""


class MCPLoadError(UserError):
    """Raised for a directory of MCP tools that cannot be used."""


def load_mcp_server(directory: str | os.PathLike[str]) -> FastMCP:
    """Load the FastMCP server that the directory's `main.py` creates. It is loaded anew on every call.

    `main.py` may import the files beside it by import statements, with or without a leading dot. Its tools
    may do so, too, when they run. (`importlib.import_module` needs the dot.) `main.py` is not run as a
    script: `__name__` is not `__main__`.

    Raises:
        MCPLoadError: If the directory, its `main.py` or fastmcp is missing, if the code of `main.py` fails,
            or if it creates no server.
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
    except (Exception, SystemExit) as failure:  # a user's module may raise anything
        raise MCPLoadError(f"Error importing {main}: {describe_error(failure)}") from failure
    return _server_in(module, server_class, main)


def import_fastmcp(folder: Path) -> type[FastMCP]:
    """Import fastmcp, and return its server class. Its banner, log output and warnings are suppressed.

    The import takes a second. A user's folder named `mcp` would hide the package of that name, which fastmcp
    needs. Therefore the working directory and the parent of `folder` are removed from `sys.path` during the
    import.

    Raises:
        MCPLoadError: If fastmcp is not installed or cannot be imported.
    """
    os.environ.setdefault("FASTMCP_SHOW_SERVER_BANNER", "false")
    os.environ.setdefault("FASTMCP_LOG_ENABLED", "false")
    os.environ.setdefault("FASTMCP_ENV_FILE", os.devnull)  # prevents it from reading a .env file
    users = {Path.cwd(), folder.parent}
    path = list(sys.path)
    sys.path[:] = [entry for entry in path if Path(entry).resolve() not in users]
    try:
        with (
            warnings.catch_warnings(record=True),
            importing("fastmcp", "MCP tools need", "mcp", MCPLoadError),
        ):
            warnings.simplefilter("ignore")
            from fastmcp import FastMCP

            import_module("fastmcp.client")  # newer versions import it lazily
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
            f'`from fastmcp import FastMCP` and `{PREFERRED_SERVER_NAME} = FastMCP("my_tools")`.'
        )
    return servers[PREFERRED_SERVER_NAME if PREFERRED_SERVER_NAME in servers else min(servers)]
