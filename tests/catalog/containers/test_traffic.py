"""What the connections of a trial do to its outcome: kept, flagged, counted, they explain tests that fail."""

from __future__ import annotations

import pytest

from benchwright.catalog.benchmark import GradedTrial
from benchwright.catalog.containers.flags import flags_of
from benchwright.catalog.containers.traffic import connection_figures, with_connections, with_traffic
from benchwright.records import Outcome, Status
from benchwright.sandbox.egress import ConnectionLog, TrialPhase

REFUSAL = "not on the list of allowed hosts"


def traffic(*asked: tuple[TrialPhase, str, str]) -> ConnectionLog:
    """A log: phase, host, and why it was refused."""
    log = ConnectionLog()
    for phase, host, why in asked:
        log.add_connection(phase, host, 443, why)
    return log


def outcome(
    *asked: tuple[TrialPhase, str, str], named: str = "", begun: bool = False, passed: bool = False
) -> Outcome:
    return with_traffic(Outcome(), traffic(*asked), [named], begun=begun, passed=passed)


def test_an_agent_that_asked_for_a_code_host_is_flagged_once() -> None:
    asked = ("agent", "raw.githubusercontent.com", REFUSAL)
    (flag,) = flags_of(outcome(asked, asked))  # type: ignore[arg-type]
    assert (flag.kind, flag.evidence) == (
        "asks_refused_hosts",
        "raw.githubusercontent.com:443 was refused by the proxy",
    )


@pytest.mark.parametrize(
    ("host", "named"), [("example.com", ""), ("github.com", "Look at https://github.com/a/b.")]
)
def test_other_hosts_and_those_that_the_task_names_are_no_flag(host: str, named: str) -> None:
    assert flags_of(outcome(("agent", host, REFUSAL), named=named)) == []


@pytest.mark.parametrize(
    ("named", "begun", "status"),
    [
        ("", False, Status.EXECUTION_ERROR),
        ("curl https://data.example/set", True, Status.EXECUTION_ERROR),
        ("", True, Status.ANSWERED),
    ],
)
def test_tests_that_lack_a_host_say_nothing_unless_only_tested_code_asked_for_it(
    named: str, begun: bool, status: Status
) -> None:
    assert outcome(("tests", "data.example", REFUSAL), named=named, begun=begun).status == status


def test_the_reason_names_the_host_and_what_to_do() -> None:
    reason = outcome(("tests", "data.example", REFUSAL)).reason or ""
    assert "data.example" in reason
    assert "--option allow_hosts=data.example" in reason


def test_what_an_agent_was_refused_and_tests_that_passed_change_no_status() -> None:
    assert outcome(("agent", "data.example", REFUSAL)).status == Status.ANSWERED
    assert outcome(("tests", "data.example", REFUSAL), passed=True).status == Status.ANSWERED


def test_details_and_figures_count_connections_and_refusals() -> None:
    made = outcome(("agent", "index.example", ""), ("agent", "github.com", REFUSAL), passed=True)
    details = with_connections({}, made.artifacts)
    assert details == {"network": {"connections": 2, "refused": 1, "refused_hosts": ["github.com"]}}
    graded = [GradedTrial("a", 0, None, {}, Status.ANSWERED, 1.0, details) for _ in range(3)]
    (figure,) = connection_figures(graded)
    assert (figure.name, figure.value) == ("refused_connections", 3.0)


def test_without_a_proxy_nothing_is_counted() -> None:
    assert with_connections({}, {}) == {}
    assert connection_figures([GradedTrial("a", 0, None, {}, Status.ANSWERED, 1.0, {})]) == []
