"""The server that commands use without a base URL, and why. This is a separate module so that `--help` loads fast."""

from __future__ import annotations

import os
from typing import NamedTuple

LOCAL_SERVER_URL = "http://localhost:8000/v1"
OPENAI_URL = "https://api.openai.com/v1"
ADDRESS_VARIABLE = "OPENAI_BASE_URL"
"""Name of the environment variable that holds the address of the user's server, as OpenAI's clients read it."""
DEFAULT_SERVER_HELP = f"${ADDRESS_VARIABLE} or localhost:8000"
"""The help's words on the default of `--base-url`, for commands that use `default_server`."""


class DefaultServer(NamedTuple):
    """The server that a command uses without a base URL. `reason`: why this server was chosen."""

    base_url: str
    reason: str

    @property
    def line(self) -> str:
        """One line for the user, with the address of the server and the reason for the choice."""
        return f"No --base-url: asking {self.base_url} ({self.reason})."


def default_server(otherwise: str = LOCAL_SERVER_URL) -> DefaultServer:
    """Return the server at OPENAI_BASE_URL. If that is not set, return the server at the address `otherwise`."""
    address = os.environ.get(ADDRESS_VARIABLE)
    if address:
        return DefaultServer(address, f"from {ADDRESS_VARIABLE}")
    return DefaultServer(otherwise, f"the default, as {ADDRESS_VARIABLE} is not set")


DOCUMENTED_SERVER = DefaultServer(LOCAL_SERVER_URL, "the default of llm-bench")
"""The server of the program `llm-bench`, which reads no other address than that of `--base-url`."""
