"""What becomes of the network that a protocol gives, by options and under a seal."""

from __future__ import annotations

import pytest

from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers.network_rules import NetworkRules, network_departures, read_network_rules
from benchwright.errors import UserError
from benchwright.sandbox.egress import PACKAGE_MIRRORS, EgressPolicy


def rules(sealed: bool = True, **options: str) -> NetworkRules:
    return read_network_rules(Options(options, sealed=sealed))


def lets_through(policy: EgressPolicy | None, host: str) -> bool:
    return policy is not None and policy.refusal_reason(host, 443, tunnel=True) is None


def test_under_a_seal_an_open_network_is_mirrors_and_what_the_task_names() -> None:
    policy = rules().egress_policy(True, ["data.example"])
    for host in (
        *PACKAGE_MIRRORS["PyPI"],
        *PACKAGE_MIRRORS["npm"],
        *PACKAGE_MIRRORS["Debian"],
        "data.example",
    ):
        assert lets_through(policy, host), host
    for host in ("github.com", "raw.githubusercontent.com", "huggingface.co", "tbench.ai", "gitlab.com"):
        assert not lets_through(policy, host), host


def test_a_host_that_a_task_names_comes_with_those_that_it_sends_on_to() -> None:
    assert lets_through(rules().egress_policy(True, ["astral.sh"]), "release-assets.githubusercontent.com")


def test_a_list_of_the_protocol_is_the_whole_list() -> None:
    policy = rules().egress_policy(("data.example",), ["named.example"])
    assert lets_through(policy, "data.example")
    assert not lets_through(policy, PACKAGE_MIRRORS["Debian"][0])
    assert not lets_through(policy, "named.example")


@pytest.mark.parametrize(
    ("sealed", "choice", "given", "filtered"),
    [
        (True, "task", [True], True),
        (True, "task", [False], False),
        (True, "task", [False, True], True),
        (False, "task", [True], False),
        (False, "task", [("data.example",)], True),
        (True, "open", [True], False),
        (True, "none", [True], False),
    ],
)
def test_a_proxy_is_needed_where_some_phase_has_a_list(
    sealed: bool, choice: str, given: list[bool | tuple[str, ...]], filtered: bool
) -> None:
    assert rules(sealed, network=choice).uses_proxy(given) is filtered


def test_no_network_stays_none_whatever_is_allowed() -> None:
    assert rules(allow_hosts="more.example").egress_policy(False) is None
    assert rules(network="none").egress_policy(True) is None


def test_mirrors_are_found_by_package_managers_and_let_through() -> None:
    chosen = rules(mirrors="pypi=https://mirror.example/simple, npm=https://npm.example/")
    assert (
        chosen.mirror_variables["PIP_INDEX_URL"]
        == chosen.mirror_variables["UV_DEFAULT_INDEX"]
        == "https://mirror.example/simple"
    )
    assert chosen.mirror_variables["NPM_CONFIG_REGISTRY"] == "https://npm.example/"
    assert chosen.allowed_hosts == ("mirror.example", "npm.example")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("allow_hosts", "https://data.example"),
        ("allow_hosts", "10.0.0.1"),
        ("allow_hosts", "*"),
        ("allow_hosts", "data.example:8080"),
        ("mirrors", "https://mirror.example"),
        ("mirrors", "cargo=https://mirror.example"),
        ("mirrors", "pypi=https://user:secret@mirror.example/simple"),
        ("mirrors", "pypi=http://127.0.0.1/simple"),
        ("network", "some"),
    ],
)
def test_values_that_cannot_be_used_are_named(option: str, value: str) -> None:
    with pytest.raises(UserError, match=f"--option {option}"):
        read_network_rules(Options({option: value}))


@pytest.mark.parametrize(
    ("sealed", "options", "departures"),
    [
        (True, {}, 1),
        (False, {}, 0),
        (False, {"network": "none"}, 1),
        (True, {"allow_hosts": "more.example"}, 2),
    ],
)
def test_what_differs_from_the_official_protocol_is_told(
    sealed: bool, options: dict[str, str], departures: int
) -> None:
    assert len(list(network_departures(read_network_rules(Options(options, sealed=sealed))))) == departures
