"""Rules for container networks: how user options and the seal change the network that the protocol grants."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from benchwright.catalog.benchmark import Options
from benchwright.errors import UserError
from benchwright.records import Record
from benchwright.sandbox.egress import (
    EgressPolicy,
    NetworkAccess,
    host_problem,
    mirror_hosts,
    with_redirect_hosts,
)

NetworkChoice = Literal["task", "open", "none"]
_CHOICES: tuple[NetworkChoice, ...] = ("task", "open", "none")

SEALED_NETWORK_DEPARTURE = (
    "sealed: the network is package mirrors and hosts that the task names, through a proxy that logs"
)
"""The departure from the official protocols that a seal causes by its rules for networks."""

_MIRROR_VARIABLES = {
    "pypi": ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"),
    "npm": ("NPM_CONFIG_REGISTRY",),
    "go": ("GOPROXY",),
}
_MIRROR = re.compile(r"https?://([^/?#@:\s]+)(?:/[^\s?#]*)?")


class NetworkRules(Record, frozen=True):
    """Rules for container networks.

    `network_choice`: the value of the option `network`. `sealed`: True if agents are sealed. `allowed_hosts`:
    further hosts to allow. `mirror_variables`: environment variables that direct package managers to mirrors.
    """

    network_choice: NetworkChoice = "task"
    sealed: bool = False
    allowed_hosts: tuple[str, ...] = ()
    mirror_variables: dict[str, str] = {}

    def has_network(self, given: NetworkAccess) -> bool:
        """Return True if a container gets a network, filtered or not.

        `given`: the network that the protocol grants.
        """
        return bool(given) and self.network_choice != "none"

    def uses_proxy(self, networks: Iterable[NetworkAccess]) -> bool:
        """Return True if a container gets its network through the proxy.

        `networks`: the networks that the protocol grants the container, one after the other.
        """
        if self.network_choice != "task":
            return False
        return any(given if self.sealed else isinstance(given, tuple) for given in networks)

    def egress_policy(self, given: NetworkAccess, named: Iterable[str] = ()) -> EgressPolicy | None:
        """Return the proxy's policy (allowed hosts) for a container. Return None if the container gets no network.

        `given`: the network that the protocol grants. `named`: the hosts that the task names.
        """
        if not self.has_network(given):
            return None
        if isinstance(given, tuple):
            return EgressPolicy((*given, *self.allowed_hosts))
        if not self.sealed:
            return EgressPolicy(allows_all_hosts=True)
        return EgressPolicy(with_redirect_hosts((*mirror_hosts(), *self.allowed_hosts, *named)))


def read_network_rules(options: Options) -> NetworkRules:
    """Read the network options.

    Raises:
        UserError: If a value cannot be used.
    """
    chosen = options.choice("network", _CHOICES)
    choice = next(one for one in _CHOICES if one == chosen)
    hosts = [one.strip().lower() for one in options.text("allow_hosts").split(",") if one.strip()]
    for host in hosts:
        if problem := host_problem(host.removeprefix("*.")):
            raise UserError(f"--option allow_hosts takes names of hosts or *.DOMAIN; {host!r} is {problem}.")
    urls = dict(_mirrors(options.text("mirrors")))
    variables = {name: url for kind, url in urls.items() for name in _MIRROR_VARIABLES[kind]}
    own = [found[1].lower() for url in urls.values() if (found := _MIRROR.fullmatch(url))]
    return NetworkRules(choice, options.sealed, tuple(dict.fromkeys((*hosts, *own))), variables)


def _mirrors(text: str) -> Iterable[tuple[str, str]]:
    for entry in filter(None, (one.strip() for one in text.split(","))):
        kind, _, url = entry.partition("=")
        found = _MIRROR.fullmatch(url)
        if kind not in _MIRROR_VARIABLES or found is None or host_problem(found[1].lower()):
            known = ", ".join(f"{one}=URL" for one in _MIRROR_VARIABLES)
            raise UserError(
                f"--option mirrors takes {known}, with URLs of hosts and without passwords, got {entry!r}."
            )
        yield kind, url


def network_departures(rules: NetworkRules) -> Iterable[str]:
    """Yield a departure for each way in which the rules change the networks of the official protocols."""
    if rules.network_choice == "none":
        yield "no network in any container"
    elif rules.network_choice == "open":
        yield "the network is not filtered, also where a task or the seal has a list of hosts"
    elif rules.sealed:
        yield SEALED_NETWORK_DEPARTURE
    if rules.allowed_hosts:
        yield f"further hosts: {', '.join(rules.allowed_hosts)}"
