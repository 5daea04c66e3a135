"""`transformers serve`, with the weights of the same model taken out of its GGUF file once; needs torch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from tests.field.kept import cache, model_file, programs, run, version_of
from tests.field.servers.llama_cpp import ONLY_COMPILED, TEMPLATE
from tests.field.servers.server import MODEL, Running, Served, Server, running

REQUEST = re.compile(r'"POST /v1/chat/completions HTTP/[\d.]+" 200')
OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}

CONVERT = """
import sys
from pathlib import Path
from transformers import AutoModelForCausalLM, AutoTokenizer
file, template, folder = map(Path, sys.argv[1:])
tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
tokenizer.chat_template = template.read_text()
tokenizer.save_pretrained(folder)
model = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype="float32")
model.hf_quantizer = None  # the weights are plain numbers by now
del model.config.quantization_config
model.save_pretrained(folder)
"""


def served(log: str) -> list[Served]:
    """Return the requests that the log tells of: that they were answered, and no more."""
    return [Served(0, 0) for _ in REQUEST.finditer(log)]


@contextmanager
def start(directory: Path) -> Iterator[Running]:
    """Run `transformers serve`; a model is named by the folder that it lies in."""
    found = programs("transformers")
    (directory / MODEL).symlink_to(weights())
    command = [found / "transformers", "serve", "--device", "cpu", "--host", "127.0.0.1", "--port"]
    version = f"transformers {version_of(found / 'python', 'transformers')}"
    variables = {**OFFLINE, "HF_HOME": str(directory), "HF_HUB_CACHE": str(directory)}
    with running(lambda port: [*command, port], directory, version, "/health", served, variables) as server:
        yield server


def weights() -> Path:
    """Return the folder of the model's weights as transformers reads them, made if it is missing."""
    folder = cache() / "smollm2-safetensors"
    with FileLock(f"{folder}.lock"):
        if not (folder / "model.safetensors").exists():
            run([programs("transformers") / "python", "-c", CONVERT, model_file(), TEMPLATE, folder])
    return folder


AS_TEXT = "the server has no tool parser for this model, so tool calls arrive as text and no tool is called"
WITHOUT = {**ONLY_COMPILED, "tool": AS_TEXT, "mcp": AS_TEXT}

COSTS = "torch and the weights take 3 GB"
SERVERS = (Server("transformers", "`transformers serve`", weights, start, WITHOUT, COSTS),)
