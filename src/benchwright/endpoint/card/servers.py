"""Identification of an endpoint's server software, and the server options that turn on missing features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

VLLM, SGLANG, LLAMA_CPP, LLAMA_CPP_PYTHON = "vllm", "sglang", "llama.cpp", "llama-cpp-python"
OLLAMA, LM_STUDIO, TGI, LITELLM, SIMULATED = "ollama", "lm-studio", "tgi", "litellm", "simulated"

SERVER_TITLES = {
    VLLM: "vLLM",
    SGLANG: "SGLang",
    LLAMA_CPP: "llama.cpp",
    LLAMA_CPP_PYTHON: "llama-cpp-python",
    OLLAMA: "Ollama",
    LM_STUDIO: "LM Studio",
    TGI: "Text Generation Inference",
    LITELLM: "LiteLLM's proxy",
    SIMULATED: "a simulated endpoint",
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "openrouter": "OpenRouter",
    "portkey": "Portkey's gateway",
}


class Server(NamedTuple):
    """Server software. `version`: None if unknown. `evidence`: a phrase that says how the server was identified."""

    name: str
    version: str | None = None
    evidence: str = ""

    @property
    def title(self) -> str:
        """The server's name for display."""
        return SERVER_TITLES.get(self.name, self.name)


UNKNOWN_SERVER = Server("unknown")

_OWNERS = {
    "vllm": VLLM,
    "sglang": SGLANG,
    "llamacpp": LLAMA_CPP,
    "organization_owner": LM_STUDIO,
    "library": OLLAMA,
}
"""Mapping from values of `owned_by` in lists of models to the server software that they identify."""

_HOSTS = {
    "api.openai.com": "openai",
    "openrouter.ai": "openrouter",
}

_HEADERS = {"x-litellm": LITELLM, "x-portkey": "portkey"}
"""Mapping from the first characters of response headers' names to the gateway that adds these headers."""

_METRICS = {
    "vllm:": VLLM,
    "sglang:": SGLANG,
    "llamacpp:": LLAMA_CPP,
    "tgi_": TGI,
    "litellm_": LITELLM,
    "benchwright_": SIMULATED,
}
"""Mapping from the first characters of metrics' names to the server software that publishes these metrics."""


def server_by_host(host: str) -> Server | None:
    """Return the server software of a known host. Return None if the host is unknown."""
    if host.endswith(".openai.azure.com"):
        return Server("azure", evidence="its host")
    name = _HOSTS.get(host)
    return None if name is None else Server(name, evidence="its host")


def server_by_headers(headers: Mapping[str, str]) -> Server | None:
    """Return the server software that the headers of a response identify. Return None if they identify none."""
    for name in headers:
        for beginning, server in _HEADERS.items():
            if name.startswith(beginning):
                return Server(server, headers.get("x-litellm-version"), f"its header {name}")
    if headers.get("server", "").lower() == "llama.cpp":
        return Server(LLAMA_CPP, evidence="its header server")
    return None


def server_by_models(models: list[dict[str, Any]]) -> Server | None:
    """Return the server software that a list of models identifies. Return None if the list identifies none."""
    for model in models:
        owner = model.get("owned_by")
        if isinstance(owner, str) and owner in _OWNERS:
            return Server(_OWNERS[owner], evidence="its list of models")
        if owner == "me" and "permissions" in model:
            return Server(LLAMA_CPP_PYTHON, evidence="its list of models")
    return None


def server_by_metrics(text: str) -> str | None:
    """Return the name of the server software that publishes these metrics. Return None if it is unknown."""
    for line in text.splitlines():
        for beginning, server in _METRICS.items():
            if line.startswith(beginning):
                return server
    return None


SERVER_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "tools": {
        VLLM: "--enable-auto-tool-choice --tool-call-parser NAME",
        SGLANG: "--tool-call-parser NAME",
        LLAMA_CPP: "--jinja, and --chat-template-file FILE if the model's template has no tools",
        LLAMA_CPP_PYTHON: "--chat_format chatml-function-calling",
    },
    "reasoning": {
        VLLM: "--reasoning-parser NAME",
        SGLANG: "--reasoning-parser NAME",
        LLAMA_CPP: "--jinja --reasoning-format auto",
    },
    "metrics": {SGLANG: "--enable-metrics", LLAMA_CPP: "--metrics"},
    "cache": {VLLM: "--enable-prompt-tokens-details", SGLANG: "--enable-cache-report"},
    "images": {LLAMA_CPP: "--mmproj FILE", LLAMA_CPP_PYTHON: "--clip_model_path FILE"},
    "embeddings": {LLAMA_CPP: "--embeddings", LLAMA_CPP_PYTHON: "--embedding True"},
    "context": {
        VLLM: "--max-model-len N",
        SGLANG: "--context-length N",
        LLAMA_CPP: "-c N (shared by the -np slots)",
        LLAMA_CPP_PYTHON: "--n_ctx N",
        OLLAMA: "OLLAMA_CONTEXT_LENGTH=N",
    },
    "parallel": {
        VLLM: "--max-num-seqs N",
        SGLANG: "--max-running-requests N",
        LLAMA_CPP: "-np N",
        LLAMA_CPP_PYTHON: "--interrupt_requests False; it serves one request at a time",
        OLLAMA: "OLLAMA_NUM_PARALLEL=N",
    },
}
"""Server options that turn on a feature: a mapping from the feature to a mapping from the server to the option.

The options are taken from each server's documentation. For Ollama they are environment variables.
"""


def option_advice(server: Server, topic: str) -> str:
    """Return a sentence that recommends the server's option for a feature.

    For an unknown server, the sentence lists the options of several servers.
    """
    options = SERVER_OPTIONS.get(topic, {})
    if server.name in options:
        return f"Start {server.title} with {options[server.name]}."
    if server.name != UNKNOWN_SERVER.name or not options:
        return ""
    return f"Options of servers: {'; '.join(f'{SERVER_TITLES[name]} {option}' for name, option in options.items())}."
