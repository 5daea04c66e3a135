"""Library for packs written in Python: the counterpart of `@benchlocal/sdk`, with access to the model.

A pack's entry module has the functions `list_scenarios()`, `prepare(context)` and
`score_model_results(results)`, or an object named `pack` with these functions. `prepare` returns an object or
a dict with `run_scenario(input, emit)` and optionally `dispose()`. Each function may be `async`. Functions
that are not `async` run in threads. Arguments and return values are the protocol's JSON objects, as dicts
with the protocol's key names. `input["abortSignal"]` is an `AbortSignal`, and `context["logger"]` is a
logger.
"""

from .helpers import (
    PROTOCOL_VERSION,
    SCHEMA_VERSION,
    HostHelpers,
    create_host_helpers,
    define_bench_pack,
    define_bench_pack_manifest,
    load_bench_pack_manifest,
    require_scored_results,
)
from .model import Endpoint, ModelError, chat, chat_async, endpoint

__all__ = [
    "PROTOCOL_VERSION",
    "SCHEMA_VERSION",
    "Endpoint",
    "HostHelpers",
    "ModelError",
    "chat",
    "chat_async",
    "create_host_helpers",
    "define_bench_pack",
    "define_bench_pack_manifest",
    "endpoint",
    "load_bench_pack_manifest",
    "require_scored_results",
]
