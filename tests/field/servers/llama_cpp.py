"""llama.cpp's own server: prebuilt in the package `xllamacpp`, or compiled from llama-cpp-python's source archive."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tests.environments import ROOT
from tests.field.kept import compiled_program, model_file, pinned_source, programs, version_of
from tests.field.servers.server import MODEL, Running, Served, Server, running

HERE = Path(__file__).parent
TEMPLATE = HERE / "chat_with_tools.jinja"
THREADS = str(max(1, (os.cpu_count() or 2) // 2))
"""Half of the cores: a server that waits for a core in the middle of each step of a model is many times slower."""

SLOTS, TOKENS_PER_SLOT = 4, 4096
HEALTH = "/health"

TOTAL = re.compile(r"print_timing: .*\| task (\d+) \| +total time = +([\d.]+) ms")
GENERATED = re.compile(r"print_timing: .*\| task (\d+) \| +eval time = +[\d.]+ ms / +(\d+) tokens")
RELEASED = re.compile(r"release: .*\| task (\d+) \| stop processing: n_tokens = (\d+)")


def served(log: str) -> list[Served]:
    """Return the requests that a log of llama.cpp tells of.

    A slot that is released holds the prompt and the answer, but for the answer's last token.
    """
    totals, generated = dict(TOTAL.findall(log)), dict(GENERATED.findall(log))
    return [
        Served(int(held) - int(generated[task]) + 1, int(generated[task]), float(totals[task]))
        for task, held in RELEASED.findall(log)
        if task in totals and task in generated
    ]


def prepare() -> None:
    """Compile llama-server and get the model, unless they are there."""
    model_file()
    compiled_program("llama-server")


@contextmanager
def prebuilt(directory: Path) -> Iterator[Running]:
    """Run the server of the package `xllamacpp`."""
    python, model = programs("xllamacpp") / "python", model_file()
    options = ["--model", model, "--slots", SLOTS, "--threads", THREADS, "--name", MODEL, "--log"]
    command = [python, ROOT / "examples" / "local_model.py", *options, "--chat-template", TEMPLATE, "--port"]
    version = f"xllamacpp {version_of(python, 'xllamacpp')}"
    with running(lambda port: [*command, port], directory, version, HEALTH, served) as server:
        yield replace(server, slots=SLOTS)


@contextmanager
def compiled(directory: Path, model: Path | None = None) -> Iterator[Running]:
    """Run llama-server, with another file of the model if one is given."""
    program = compiled_program("llama-server")
    options = ["-m", model or model_file(), "-np", SLOTS, "-c", SLOTS * TOKENS_PER_SLOT, "-t", THREADS]
    options += ["--jinja", "--metrics", "--alias", MODEL, "--chat-template-file", TEMPLATE]
    command = [program, *options, "--host", "127.0.0.1", "--port"]
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    (commit,) = re.findall(r"commit (\w+)", said.stdout + said.stderr)
    version = f"llama.cpp {commit}, of {pinned_source().split()[0]}"
    with running(lambda port: [*command, port], directory, version, HEALTH, served) as server:
        yield replace(server, slots=SLOTS)


ONLY_COMPILED = {"compared": "only the build of llama-server contains the program llama-quantize"}

PREBUILT = "llama.cpp's server in the package xllamacpp"
COMPILED = "llama.cpp's llama-server, compiled"
SERVERS = (
    Server("xllamacpp", PREBUILT, model_file, prebuilt, ONLY_COMPILED),
    Server("llama-server", COMPILED, prepare, compiled, costs="compiling it takes 20 minutes"),
)
