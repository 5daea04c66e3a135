"""Network connections of a trial: stored with its outcome, counted, and flagged if code hosts were refused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from benchwright.catalog.benchmark import Figure, GradedTrial
from benchwright.catalog.containers.auditing.answer_lookups import (
    CODE_HOSTS,
    DATASET_HUBS,
    REFUSED,
    is_host_listed,
    refusal_evidence,
)
from benchwright.catalog.containers.flags import FLAGS_KEY, Flag
from benchwright.catalog.containers.network_failures import unreachable_message
from benchwright.records import Outcome, Status
from benchwright.sandbox.egress import ConnectionEntry, ConnectionLog

NETWORK, LEFT_OUT = "network", "network_left_out"
"""`NETWORK`: key of the outcome's artifact that lists a trial's connections (`egress.Connection`).

`LEFT_OUT`: key of the artifact with the number of connections that are not listed. In the details of a score,
`NETWORK` is the key of the number of connections, the number of refused ones, and the refused hosts.
"""
MAX_NAMED_HOSTS = 20
"""Maximum number of refused hosts that the details of a score list."""


def with_traffic(
    outcome: Outcome, traffic: ConnectionLog, named: Sequence[str], *, begun: bool, passed: bool
) -> Outcome:
    """Return a trial's outcome with its connections. Add a flag if the agent tried to reach refused code hosts.

    If the tests did not pass because a host was unreachable, the outcome becomes an execution error. This is
    assumed if one of the tests' connections failed, and in addition either a text of the task (`named`) names
    the host, or no test had `begun`. Hosts that only the tested code contacts do not explain a failure.
    """
    artifacts = {**outcome.artifacts, NETWORK: msgspec.to_builtins(traffic.connections)}
    if traffic.unlisted_count:
        artifacts[LEFT_OUT] = traffic.unlisted_count
    if flags := list(_flags(traffic.connections, named)):
        artifacts[FLAGS_KEY] = [*artifacts.get(FLAGS_KEY, ()), *msgspec.to_builtins(flags)]
    outcome = msgspec.structs.replace(outcome, artifacts=artifacts)
    missed = None if passed else _missed(traffic.connections, named, begun=begun)
    if missed is None or outcome.status == Status.EXECUTION_ERROR:
        return outcome
    reason = unreachable_message(missed.host, missed.why, refused=not missed.allowed)
    return msgspec.structs.replace(outcome, status=Status.EXECUTION_ERROR, reason=reason)


def with_connections(details: dict[str, Any], artifacts: Mapping[str, Any]) -> dict[str, Any]:
    """Return score details with the number of connections added.

    If there was no proxy, return the details unchanged.
    """
    listed = artifacts.get(NETWORK)
    if not isinstance(listed, list):
        return details
    refused = [one for one in listed if one.get("allowed") is False]
    hosts = list(dict.fromkeys(str(one.get("host")) for one in refused))
    told = {"connections": len(listed) + int(artifacts.get(LEFT_OUT) or 0), "refused": len(refused)}
    return details | {NETWORK: told | ({"refused_hosts": hosts[:MAX_NAMED_HOSTS]} if hosts else {})}


def connection_figures(graded: Iterable[GradedTrial]) -> Sequence[Figure]:
    """Return one figure: the total number of refused connections. Return nothing if no trial had a proxy."""
    counts = [found.get("refused", 0) for one in graded if (found := one.detail.get(NETWORK)) is not None]
    return [Figure("refused_connections", float(sum(counts)))] if counts else []


def _flags(connections: Iterable[ConnectionEntry], named: Sequence[str]) -> Iterable[Flag]:
    told = dict.fromkeys((one.host, one.port) for one in connections if not one.allowed)
    for host, port in told:
        if is_host_listed(host, (*CODE_HOSTS, *DATASET_HUBS)) and not _names(named, host):
            yield Flag(REFUSED, refusal_evidence(host, port))


def _missed(
    connections: Iterable[ConnectionEntry], named: Sequence[str], *, begun: bool
) -> ConnectionEntry | None:
    """Return the first refused or failed connection of the tests that explains why the tests failed.

    Return None if no connection explains it.
    """
    for one in connections:
        if one.phase == "tests" and one.why and (not begun or _names(named, one.host)):
            return one
    return None


def _names(texts: Sequence[str], host: str) -> bool:
    return any(host in text for text in texts)
