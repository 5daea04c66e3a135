"""Probes for the server's identity: its software, models, context window, and metrics."""

from __future__ import annotations

from typing import Any

from benchwright.endpoint.address import parse_base_url
from benchwright.endpoint.card import servers
from benchwright.endpoint.card.examination import Examination
from benchwright.endpoint.card.outcomes import UNKNOWN_OUTCOME
from benchwright.endpoint.card.probe_response import ProbeResponse, read_count
from benchwright.endpoint.card.prober import ProbeUnanswered
from benchwright.endpoint.card.servers import Server
from benchwright.endpoint.metrics_poller import read_load_metrics

CONTEXT_WINDOW_FIELDS = (
    *("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length"),
    *("n_ctx", "n_ctx_train"),
)
"""Names of the fields that hold a model's context window in lists of models.

vLLM and SGLang, LM Studio, OpenRouter, Groq, Mistral and llama.cpp use them.
"""


async def probe_models(known: Examination) -> None:
    """Fetch the list of models. Find the server's identity and the model's context window in it."""
    answer = await known.prober.get("/models")
    model = known.prober.client.target.model
    found = answer.json.get("data")
    models = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    _recognise(known, answer, models)
    if not answer.is_accepted or not isinstance(found, list):
        refusal = "its answer is no list of models" if answer.is_accepted else answer.refusal
        known.record_outcome("models", "no_list", refusal=refusal)
        return
    known.models = [str(each.get("id")) for each in models]
    own = next((each for each in models if each.get("id") == model), None)
    known.record_outcome("models", "not_listed" if own is None else "listed", count=len(models))
    window = read_context_window(own or (models[0] if len(models) == 1 else {}))
    if window is not None:
        known.record_outcome("context", "known", tokens=window, by="the list of models")


def _recognise(known: Examination, answer: ProbeResponse, models: list[dict[str, Any]]) -> None:
    """Identify the server by its host, by its list of models, or by the headers of the response with that list."""
    host = parse_base_url(known.prober.client.target.base_url).host
    found = (
        servers.server_by_host(host)
        or servers.server_by_headers(answer.headers)
        or servers.server_by_models(models)
    )
    if answer.is_simulated:
        found = Server(servers.SIMULATED, evidence="a header")
    known.server = found or known.server


def read_context_window(model: dict[str, Any]) -> int | None:
    """Return the context window, in tokens, from an entry of a list of models. Return None if the entry has none."""
    for holder in (model, model.get("meta"), model.get("top_provider")):
        for field in CONTEXT_WINDOW_FIELDS:
            if window := read_count(holder, field):
                return window
    return None


async def probe_version(known: Examination, *, guess: bool = True) -> None:
    """Find out the server's version.

    `guess`: if the server is unknown, also identify it, by trying paths that only some servers have.
    """
    ways = {
        servers.LLAMA_CPP: _props,
        servers.VLLM: _version,
        servers.OLLAMA: _ollama,
        servers.TGI: _info,
    }
    name = known.server.name
    guess = guess and name == servers.UNKNOWN_SERVER.name
    tried = [way for server, way in ways.items() if guess or name == server]
    unanswered: list[ProbeUnanswered] = []
    for way in tried:
        try:
            found = await way(known)
        except ProbeUnanswered as reason:
            unanswered.append(reason)
            continue
        if found is not None:
            known.server = found._replace(evidence=known.server.evidence or found.evidence)
            break
    if guess and len(unanswered) == len(tried):
        raise unanswered[0]
    record_server(known)


def record_server(known: Examination) -> None:
    """Record the finding on the server's identity."""
    server = known.server
    if server.name == servers.UNKNOWN_SERVER.name:
        known.record_outcome("server", "not_reported")
        return
    title = f"{server.title} {server.version}" if server.version else server.title
    known.record_outcome(
        "server", "known", title=title, by=server.evidence, name=server.name, version=server.version
    )


async def _props(known: Examination) -> Server | None:
    props = (await known.prober.get("/props", beside=True)).json
    settings = props.get("default_generation_settings")
    if not isinstance(settings, dict):
        return None
    if window := read_count(settings, "n_ctx"):
        known.record_outcome("context", "known", tokens=window, by="/props, for each slot")
    return Server(servers.LLAMA_CPP, _text(props.get("build_info")), "/props")


async def _version(known: Examination) -> Server | None:
    answer = (await known.prober.get("/version", beside=True)).json
    return Server(servers.VLLM, _text(answer["version"]), "/version") if list(answer) == ["version"] else None


async def _ollama(known: Examination) -> Server | None:
    answer = (await known.prober.get("/api/version", beside=True)).json
    if list(answer) != ["version"]:
        return None
    loaded = (await known.prober.get("/api/ps", beside=True)).json.get("models")
    model = known.prober.client.target.model
    for each in loaded if isinstance(loaded, list) else ():
        is_asked = isinstance(each, dict) and model in (each.get("name"), each.get("model"))
        if is_asked and (window := read_count(each, "context_length")):
            known.record_outcome("context", "known", tokens=window, by="/api/ps")
    return Server(servers.OLLAMA, _text(answer["version"]), "/api/version")


async def _info(known: Examination) -> Server | None:
    answer = (await known.prober.get("/info", beside=True)).json
    if "docker_label" not in answer and "max_total_tokens" not in answer:
        return None
    if window := read_count(answer, "max_total_tokens"):
        known.record_outcome("context", "known", tokens=window, by="/info")
    return Server(servers.TGI, _text(answer.get("version")), "/info")


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


async def record_missing_context(known: Examination) -> None:
    """Record that the server does not report the context window, unless an earlier probe has found it."""
    if "context" in known.findings:
        return
    if known.outcome("models") == UNKNOWN_OUTCOME and known.outcome("server") == UNKNOWN_OUTCOME:
        raise ProbeUnanswered("nothing that would tell it was answered")
    known.record_outcome("context", "not_reported")


async def probe_metrics(known: Examination) -> None:
    """Record whether the server publishes metrics at /metrics.

    If the server is unknown, identify it by the names of its metrics.
    """
    answer = await known.prober.get("/metrics", beside=True)
    text = answer.body.decode("utf-8", "replace") if answer.status == 200 else ""
    name = servers.server_by_metrics(text)
    if name is not None and known.server.name == servers.UNKNOWN_SERVER.name:
        known.server = Server(name, evidence="/metrics")
        record_server(known)
    if text and read_load_metrics(text, 0) is not None:
        known.record_outcome(
            "metrics",
            "known",
            title=servers.SERVER_TITLES.get(name or "", "a server not known here"),
            name=name,
        )
    elif "# TYPE" in text:
        known.record_outcome("metrics", "other", name=name)
    else:
        known.record_outcome("metrics", "none", refusal=answer.refusal)
