"""The servers that are tried, in the order of the tables."""

from __future__ import annotations

from tests.field.servers import gateways, llama_cpp, llama_cpp_python, transformers_serve
from tests.field.servers.server import Server

SERVERS: dict[str, Server] = {
    server.name: server
    for module in (llama_cpp, llama_cpp_python, gateways, transformers_serve)
    for server in module.SERVERS
}
