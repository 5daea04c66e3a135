"""Finds network failures during the setup of tests in the test log, to keep them apart from wrong answers.

Only messages of downloading programs count, and only if no test began. If tests began, such a message excuses
no failure: right answers pass in spite of it, so that only wrong answers would be excluded. A failure at this
machine's loopback address is not a network failure.
"""

from __future__ import annotations

import re

from benchwright.text import one_line

MAX_LINE_LENGTH = 200

_FAILURES = re.compile(
    r"""
    curl:\ \((?:5|6|7|28|35|52|56)\)                             # it cannot resolve, connect or finish
    | wget:\ (?:unable\ to\ resolve|bad\ address|can't\ connect)
    | Proxy\ tunneling\ failed                                     # GNU wget
    | (?:E|Err|W):.*(?:Temporary\ failure|Could\ not\ (?:resolve|connect\ to)|Failed\ to\ fetch)
    | Err:\d+\s
    | WARNING:\ Retrying\ \(.*                                     # pip
      (?:NewConnectionError|ConnectTimeoutError|NameResolutionError|ProxyError)
    | (?:error:|\s*Caused\ by:|\s*[├╰]─▶).*                       # uv
      (?:dns\ error|error\ sending\ request\ for\ url|client\ error\ \(Connect\)|tunnel\ error)
    | npm\ (?:ERR!|error).*(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET)
    | fatal:\ unable\ to\ access\ '.*(?:Could\ not\ resolve\ host|CONNECT\ tunnel\ failed|from\ proxy\ after\ CONNECT)
    | go:\ .*dial\ tcp:\ lookup\ .*(?:no\ such\ host|i/o\ timeout|server\ misbehaving)
    """,
    re.VERBOSE,
)
"""Regular expression for the beginning of lines in which programs report a network failure."""
_LOOPBACK = re.compile(r"localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0")
_BEGUN = re.compile(r"^=+ test session starts =+", re.MULTILINE)


def find_network_failure(log: str) -> str | None:
    """Return the first line about a failed download. Return None if there is no such line, or if tests began."""
    if have_tests_started(log):
        return None
    for line in log.splitlines():
        if _FAILURES.match(line) and not _LOOPBACK.search(line):
            return one_line(line, MAX_LINE_LENGTH)
    return None


def have_tests_started(log: str) -> bool:
    """Return True if the test log shows that a test runner started."""
    return _BEGUN.search(log) is not None


def unreachable_message(host: str, why: str, *, refused: bool) -> str:
    """Explain why there is no score if tests could not reach a host, and what the user can do.

    `why`: the reason in the proxy's log. `refused`: True if the proxy refused the connection.
    """
    if not refused:
        return (
            f"the tests could not reach {host} ({why}); this says nothing about the answer. Run again with "
            "--retry-failed where the network is there."
        )
    return (
        f"the tests were refused {host} ({why}); this says nothing about the answer. --option allow_hosts={host} lets "
        "it through, --no-seal runs without the list."
    )


def setup_failure_message(line: str) -> str:
    """Explain why there is no score if the setup of tests failed, and what the user can do.

    `line`: the line of the log that reports the failure.
    """
    return (
        f"the tests could not be set up without the network ({line}); this says nothing about the answer. "
        "Run again with --retry-failed where the network is there."
    )
