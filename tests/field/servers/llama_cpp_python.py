"""llama-cpp-python's server, compiled by pip; 13 minutes of CPU time. `LLAMA_CPP_PYTHON` names a Python that has it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.field.kept import model_file, programs, version_of
from tests.field.servers.llama_cpp import ONLY_COMPILED, THREADS, TOKENS_PER_SLOT
from tests.field.servers.server import MODEL, Running, Served, Server, running

REQUEST = re.compile(
    r"(?:(?P<cached>\d+) prefix-match hit, [^\n]*\n(?:(?!total time).)*?)?"
    r"prompt eval time = +[\d.]+ ms / +(?P<evaluated>\d+) tokens.*?"
    r" eval time = +[\d.]+ ms / +(?P<runs>\d+) runs.*?"
    r"total time = +(?P<total>[\d.]+) ms",
    re.DOTALL,
)
SECOND_TURN = (
    "in an agent's second turn, the server answers HTTP 500 to tool calls with null content, "
    "which the API allows"
)
WITHOUT = {**ONLY_COMPILED, "tool": SECOND_TURN, "mcp": SECOND_TURN}


def served(log: str) -> list[Served]:
    """Return the requests that the log tells of. The first token of an answer is part of evaluating the prompt."""
    return [
        Served(
            int(found["cached"] or 0) + int(found["evaluated"]), int(found["runs"]) + 1, float(found["total"])
        )
        for found in REQUEST.finditer(log)
    ]


def installed_python() -> Path:
    """Return a Python that has llama-cpp-python, compiled if it is missing."""
    given = os.environ.get("LLAMA_CPP_PYTHON")
    return Path(given) if given else programs("llama_cpp_python") / "python"


@contextmanager
def start(directory: Path) -> Iterator[Running]:
    """Run the server of llama-cpp-python."""
    python = installed_python()
    options = ["--model", model_file(), "--model_alias", MODEL, "--n_ctx", TOKENS_PER_SLOT]
    options += [
        "--n_threads",
        THREADS,
        "--interrupt_requests",
        "False",
        "--chat_format",
        "chatml-function-calling",
    ]
    version = f"llama-cpp-python {version_of(python, 'llama-cpp-python')}"
    command = [python, "-m", "llama_cpp.server", *options, "--host", "127.0.0.1", "--port"]
    with running(lambda port: [*command, port], directory, version, "/v1/models", served) as server:
        yield replace(server, counts_streams=False, apart=1)


TITLE = "llama-cpp-python's server"
COSTS = "compiling it takes 15 minutes"
SERVERS = (Server("llama-cpp-python", TITLE, installed_python, start, WITHOUT, COSTS),)
