"""The hosts that containers may reach: package mirrors, with reasons, and hosts added by a task or user."""

from __future__ import annotations

import re
from collections.abc import Iterable

from benchwright.records import Record

HTTP, HTTPS = 80, 443

NetworkAccess = bool | tuple[str, ...]
"""Network access that a benchmark's protocol gives to a container.

It is True for all hosts, False for no host, or a tuple of the allowed hosts.
"""


def _at(**names: str) -> tuple[str, ...]:
    """Return host names. Each keyword is a last label, and its value lists the names before that label."""
    return tuple(f"{name}.{last}" for last, several in names.items() for name in several.split())


PACKAGE_MIRRORS = {
    "PyPI": _at(org="pypi files.pythonhosted"),
    "conda": _at(org="conda.anaconda", com="repo.anaconda"),
    "npm": _at(org="registry.npmjs", com="registry.yarnpkg"),
    "Node.js releases": _at(org="nodejs"),
    "Debian": _at(org="deb.debian security.debian snapshot.debian"),
    "Ubuntu": _at(com="archive.ubuntu security.ubuntu ports.ubuntu"),
    "Alpine": _at(org="dl-cdn.alpinelinux"),
    "crates and Rust toolchains": _at(io="crates index.crates static.crates", org="static.rust-lang"),
    "Go modules and checksums": _at(org="proxy.golang sum.golang"),
    "RubyGems": _at(org="rubygems index.rubygems"),
    "Maven": _at(org="repo.maven.apache repo1.maven"),
    "CRAN": _at(org="cran.r-project cloud.r-project"),
}
"""Allowed hosts: a mapping from a purpose to host names.

These hosts serve released packages, not anyone's working copies. The one exception is Go's proxy, which
serves the commits of any repository as modules. `go` has no other mirror.
"""

_GITHUB = (
    *("github.com", "codeload.github.com", "raw.githubusercontent.com"),
    *("objects.githubusercontent.com", "release-assets.githubusercontent.com"),
)
REDIRECT_HOSTS = {
    "github.com": _GITHUB,
    "astral.sh": ("releases.astral.sh", *_GITHUB),
    "huggingface.co": ("cdn-lfs.huggingface.co", "cdn-lfs-us-1.hf.co", "cas-bridge.xethub.hf.co"),
    "sh.rustup.rs": ("static.rust-lang.org",),
    "dl.fedoraproject.org": ("mirrors.fedoraproject.org",),
}
"""Mapping from a host to the hosts to which it redirects.

If a task may reach the host, it must be able to reach the hosts to which the host redirects, too.
"""

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:{_LABEL}\.)+{_LABEL}")
_NUMBER = re.compile(r"(?:\d+|0x[0-9a-f]*)")


def host_problem(host: str) -> str | None:
    """Return what is wrong with a host named by a client or user. Return None for a plain host name in lower case."""
    if ":" in host or _NUMBER.fullmatch(host.rpartition(".")[2]):
        return "an address in place of a name"
    if len(host) > 253 or not _NAME.fullmatch(host):
        return "no name of a host"
    return None


class EgressPolicy(Record, frozen=True):
    """The hosts that may be reached.

    `hosts`: host names, or `*.domain` for all hosts of a domain. `allows_all_hosts`: True if all public hosts
    may be reached.
    """

    hosts: tuple[str, ...] = ()
    allows_all_hosts: bool = False

    def refusal_reason(self, host: str, port: int, *, tunnel: bool) -> str | None:
        """Return why a connection is refused before its host is resolved. Return None if it is not refused."""
        if problem := host_problem(host):
            return problem
        if port != (HTTPS if tunnel else HTTP):
            return f"port {port}: only {HTTP} without TLS and {HTTPS} with it are open"
        if self.allows_all_hosts or any(_fits(host, allowed) for allowed in self.hosts):
            return None
        return "not on the list of allowed hosts"


def mirror_hosts() -> tuple[str, ...]:
    """Return the hosts of all mirrors."""
    return tuple(host for hosts in PACKAGE_MIRRORS.values() for host in hosts)


def with_redirect_hosts(hosts: Iterable[str]) -> tuple[str, ...]:
    """Return these hosts together with the hosts to which they redirect, without duplicates."""
    return tuple(dict.fromkeys(one for host in hosts for one in (host, *REDIRECT_HOSTS.get(host, ()))))


def _fits(host: str, allowed: str) -> bool:
    return host.endswith(allowed[1:]) if allowed.startswith("*.") else host == allowed
