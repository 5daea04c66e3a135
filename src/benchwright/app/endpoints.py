"""Creates the client for a target, from its access and the user's settings."""

from __future__ import annotations

from benchwright.app.models import SAMPLING_OPTIONS
from benchwright.app.reasoning_effort import refusal_hints
from benchwright.config import Models, SamplingSettings, Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.providers import ModelClient, connect_client
from benchwright.endpoint.timeouts import Timeouts
from benchwright.records import Target


def implicit_setting_names(sampling: SamplingSettings, models: Models, target: Target) -> frozenset[str]:
    """Return the names of a target's settings that the user did not ask for.

    The only such setting is the seed, if the user gave none.
    """
    given = "seed" in sampling.model_fields_set and sampling.seed is not None
    given = given or "seed" in sampling.param
    given = given or any(entry.seed is not None or "seed" in entry.param for entry in models)
    return frozenset() if given else frozenset({"seed"} & target.settings.keys())


SAMPLING_FIELDS = {"temperature", "top_p", "top_k", "seed", "stop", "logprobs", "top_logprobs"}
"""Names of request fields that a server refuses for every prompt or for none.

One refusal of such a field holds for all requests. `max_tokens` is not in this set, because it may be refused for
one prompt only.
"""


def _hints(sampling: SamplingSettings, target: Target) -> dict[str, str]:
    """Return advice by request field: what to do if a server refuses a field that the user or the protocol set."""
    hints = {}
    for name in sorted(SAMPLING_FIELDS & target.settings.keys()):
        is_option = (
            name in SAMPLING_OPTIONS
            and getattr(sampling, name) is not None
            and name in sampling.model_fields_set
        )
        option = f"--{name}" if is_option else f"--param {name}" if name in sampling.param else None
        by = "the protocol sends it" if option is None else f"{option} sent it"
        hints[name] = f"{by}; --param {name}=null leaves it out"
    return hints


def make_client(target: Target, access: Access, settings: Settings, connections: int) -> ModelClient:
    """Return a client for a target with at most `connections` connections."""
    limits = settings.limits
    return connect_client(
        target,
        access,
        connections=connections,
        stream=settings.execution.stream,
        limits=Timeouts(
            read_seconds=limits.timeout,
            stall_seconds=min(limits.timeout, Timeouts().stall_seconds),
            total_seconds=limits.request_seconds,
            max_bytes=limits.answer_mb * 2**20,
        ),
        retry=RetryPolicy(retries=limits.retries, max_rate_limit_wait=limits.max_wait),
        hints={
            **_hints(settings.sampling, target),
            **refusal_hints(settings.thinking, settings.endpoint.models_under_test, target),
        },
        added=implicit_setting_names(settings.sampling, settings.endpoint.models, target),
    )
