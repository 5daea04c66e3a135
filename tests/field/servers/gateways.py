"""LiteLLM's proxy and Portkey's gateway, each in front of llama.cpp's server."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from filelock import FileLock
from tests.environments import ROOT
from tests.field.kept import Unavailable, cache, programs, run, version_of
from tests.field.servers.llama_cpp import ONLY_COMPILED, prebuilt
from tests.field.servers.server import MODEL, Running, Server
from tests.server_process import DidNotStart, ServerProcess

KEY = "sk-field-3f8a1c5e7b9d2046"
GATEWAY = Path("node_modules", "@portkey-ai", "gateway")


@contextmanager
def litellm(directory: Path) -> Iterator[Running]:
    """Run LiteLLM's proxy in front of llama.cpp's server."""
    found = programs("litellm")
    with prebuilt(made(directory / "engine")) as engine:
        served = {"model": f"openai/{MODEL}", "api_base": engine.base_url, "api_key": "none"}
        models = [{"model_name": MODEL, "litellm_params": served}]
        settings = directory / "litellm.yaml"  # JSON is YAML
        settings.write_text(json.dumps({"model_list": models, "general_settings": {"master_key": KEY}}))
        command = [found / "litellm", "--config", settings, "--host", "127.0.0.1", "--port"]
        proxy = ServerProcess(lambda port: [*command, port], directory, health="/health/liveliness")
        with in_front(proxy, engine, f"LiteLLM {version_of(found / 'python', 'litellm')}") as running:
            yield replace(running, options=("--api-key", KEY))


@contextmanager
def portkey(directory: Path) -> Iterator[Running]:
    """Run Portkey's gateway in front of llama.cpp's server; its headers say where that is."""
    gateway = installed_gateway()
    version = json.loads((gateway / "package.json").read_text(encoding="utf-8"))["version"]
    with prebuilt(made(directory / "engine")) as engine:
        command = ["node", gateway / "build" / "start-server.js", "--headless"]
        process = ServerProcess(lambda port: [*command, f"--port={port}"], directory, health="/")
        headers = {"x-portkey-provider": "openai", "x-portkey-custom-host": engine.base_url}
        options = [part for name, value in headers.items() for part in ("--header", f"{name}={value}")]
        with in_front(process, engine, f"Portkey's gateway {version}") as running:
            yield replace(running, options=options)


@contextmanager
def in_front(gateway: ServerProcess, engine: Running, version: str) -> Iterator[Running]:
    """Start a gateway, and stop it in the end. The log that counts is that of the server behind it."""
    try:
        gateway.start()
    except DidNotStart as error:
        raise Unavailable(str(error)) from None
    try:
        yield replace(
            engine, base_url=f"{gateway.address}/v1", version=f"{version}, in front of {engine.version}"
        )
    finally:
        gateway.stop()


def installed_gateway() -> Path:
    """Return the folder of Portkey's gateway; installs it from npm if it is missing, without running scripts.

    Raises:
        Unavailable: If there is no npm, or the packages cannot be had.
    """
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise Unavailable("it needs Node.js with npm")
    pinned = ROOT / "requirements" / "portkey"
    digest = hashlib.sha256((pinned / "package-lock.json").read_bytes()).hexdigest()
    folder = made(cache() / f"portkey-{digest[:12]}")
    with FileLock(folder / "lock"):
        if not (folder / "installed").exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(pinned / name, folder)
            run(["npm", "ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"])
            (folder / "installed").touch()
    return folder / GATEWAY


def made(folder: Path) -> Path:
    """Return a folder, made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


COSTS = "it would ask the same model everything once more, for two minutes"
SERVERS = (
    Server("litellm", "LiteLLM's proxy", lambda: programs("litellm"), litellm, ONLY_COMPILED, COSTS),
    Server("portkey", "Portkey's gateway", installed_gateway, portkey, ONLY_COMPILED, COSTS),
)
