"""Creates the client for a target, from its access and the user's settings."""

from __future__ import annotations

from benchwright.app.models import GIVEN
from benchwright.app.thinking import hints_of_refusals
from benchwright.config import Settings
from benchwright.endpoint.access import Access
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.limits import Limits
from benchwright.endpoint.providers import ModelClient, connect
from benchwright.records import Target


def added_settings(settings: Settings, target: Target) -> frozenset[str]:
    """Return the settings of a target that the user did not ask for: the seed, unless the user gave one."""
    given = "seed" in settings.model_fields_set and settings.seed is not None
    given = given or "seed" in settings.param
    given = given or any(entry.seed is not None or "seed" in entry.param for entry in settings.models)
    return frozenset() if given else frozenset({"seed"} & target.settings.keys())


SAMPLING = {"temperature", "top_p", "top_k", "seed", "stop", "logprobs", "top_logprobs"}
"""Request fields that a server refuses independently of the prompt.

A token limit may be refused for one prompt only.
"""


def _hints(settings: Settings, target: Target) -> dict[str, str]:
    """Return advice by field name, shown if a server refuses a field that the user or a protocol sends."""
    hints = {}
    for name in sorted(SAMPLING & target.settings.keys()):
        is_option = (
            name in GIVEN and getattr(settings, name) is not None and name in settings.model_fields_set
        )
        option = f"--{name}" if is_option else f"--param {name}" if name in settings.param else None
        by = "the protocol sends it" if option is None else f"{option} sent it"
        hints[name] = f"{by}; --param {name}=null leaves it out"
    return hints


def make_client(target: Target, access: Access, settings: Settings, connections: int) -> ModelClient:
    """Return a client for a target with at most this many connections."""
    return connect(
        target,
        access,
        connections=connections,
        stream=settings.stream,
        limits=Limits(
            read=settings.timeout,
            stall=min(settings.timeout, Limits().stall),
            total=settings.request_seconds,
            size=settings.answer_mb * 2**20,
        ),
        retry=RetryPolicy(retries=settings.retries, longest_wait=settings.max_wait),
        hints={**_hints(settings, target), **hints_of_refusals(settings, target)},
        added=added_settings(settings, target),
    )
