"""Runs agents in containers: the mounted folders, and the commands that start an agent there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import msgspec

from benchwright.errors import UserError
from benchwright.recipes import collected_files
from benchwright.recipes.inside import forwarding, launcher
from benchwright.recipes.installed_agents import InstalledAgent, find_installed
from benchwright.recipes.launch_specs import LaunchSpec
from benchwright.recipes.python_runtime import (
    LIBRARIES_FOLDER,
    container_runtime,
    copy_libraries,
    python_command,
)
from benchwright.recipes.recipe import Recipe
from benchwright.recipes.tmux import tmux_command, tmux_layer
from benchwright.records import Record

RUNTIME_MOUNT = "/opt/benchwright/python"
AGENT_MOUNT = "/opt/benchwright/agent"
RELAY_MOUNT = "/opt/benchwright/relay"
TMUX_MOUNT = "/opt/benchwright/tmux"
RELAY_SOCKET = "relay.sock"

PORT_PLACEHOLDER = "benchwright-relay-port"
"""Placeholder for the number of the loopback port that leads to the relay. The port is known only in the container."""
RELAY_BASE_URL = f"http://127.0.0.1:{PORT_PLACEHOLDER}/v1"

_MODULE = (
    "import runpy, site, sys; site.addsitedir(sys.argv[1]); del sys.argv[:2]; "
    "runpy.run_module(sys.argv[0], None, '__main__', True)"
)
"""Python code that runs a module as `python -m` does. The first argument is the folder of packages."""
_COLLECT = """
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
print(json.dumps(texts_below(folder, sys.argv[2:]) if folder.is_dir() else {}))
"""


class ContainerAgent(Record, frozen=True):
    """An agent to run in a container.

    `launch_words`: the words of the command that starts the agent's program. `mounts`: a mapping from paths in the
    container to folders of this machine, which are mounted read-only.
    """

    launch_words: list[str]
    mounts: dict[str, str]


def container_agent(recipe: Recipe, relay: Path) -> ContainerAgent:
    """Return a recipe's agent, ready to run in a container. `relay`: the folder of the relay's socket.

    Everything else that the agent needs is created on first use. For an agent whose loop is run by
    Benchwright, `launch_words` starts the agent's terminal.

    Raises:
        UserError: If the agent is not installed or does not run in containers. The message states what to do.
    """
    if recipe.loop == "terminus":
        return ContainerAgent(tmux_command(TMUX_MOUNT), {TMUX_MOUNT: str(tmux_layer())})
    install, layer = recipe.install, _layer(recipe)
    mounts = {RUNTIME_MOUNT: str(container_runtime()), RELAY_MOUNT: str(relay)}
    if install is None or layer is None:
        return ContainerAgent([], mounts)
    mounts[AGENT_MOUNT] = str(layer.directory)
    if not install.pip:
        return ContainerAgent([f"{AGENT_MOUNT}/{install.program}"], mounts)
    (packages,) = layer.directory.glob("lib/python3.*/site-packages")
    if not (layer.directory / LIBRARIES_FOLDER).exists():
        copy_libraries(sorted(packages.rglob("*.so")), layer.directory / LIBRARIES_FOLDER)
    inside = f"{AGENT_MOUNT}/{packages.relative_to(layer.directory)}"
    python = python_command(RUNTIME_MOUNT, f"{AGENT_MOUNT}/{LIBRARIES_FOLDER}")
    return ContainerAgent([*python, "-c", _MODULE, inside, install.module], mounts)


def _layer(recipe: Recipe) -> InstalledAgent | None:
    if recipe.install is None:
        return None
    if not recipe.install.containers:
        raise UserError(f"{recipe.title} does not run in containers: {recipe.note or 'its recipe says so'}.")
    layer = find_installed(recipe)
    if layer is None:
        raise UserError(f"{recipe.title} is not installed: run `benchwright agents install {recipe.name}`.")
    return layer


def launch_command(start: LaunchSpec) -> tuple[list[str], bytes]:
    """Return (command, stdin) for a container. The command runs an agent there until the agent ends."""
    order = {
        "socket": f"{RELAY_MOUNT}/{RELAY_SOCKET}",
        "mark": PORT_PLACEHOLDER,
        "command": start.command,
        "environment": start.environment,
        "files": start.files,
    }
    code = _text(forwarding) + _text(launcher)
    return [*python_command(RUNTIME_MOUNT), "-c", code], msgspec.json.encode(order)


def forwarding_command(socket: str, port: int, direct: Sequence[str]) -> tuple[list[str], bytes]:
    """Return (command, stdin) for a container. The command connects a loopback port to a socket in that container.

    Requests for the loopback, and for the hosts in `direct`, are not sent to the socket, but directly to
    their host. The command prints the port (0 stands for any free port) and ends. A background process
    continues.
    """
    code = f"{_text(forwarding)}\nforward_in_background()\n"
    return [*python_command(RUNTIME_MOUNT), "-c", code], msgspec.json.encode(
        {"socket": socket, "port": port, "direct": direct}
    )


def collecting_command(home: str, patterns: tuple[str, ...]) -> list[str]:
    """Return a command for a container.

    It prints the texts below a folder that match the patterns, as one JSON object.
    """
    return [*python_command(RUNTIME_MOUNT), "-c", _text(collected_files) + _COLLECT, home, *patterns]


def _text(module: ModuleType) -> str:
    """Return the source code of a module, to be passed to the Python in a container."""
    assert module.__file__ is not None, "it is a file"
    return Path(module.__file__).read_text(encoding="utf-8")
