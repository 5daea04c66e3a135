"""Logs of tests in which a program says that it cannot reach the network."""

from __future__ import annotations

import pytest

from benchwright.catalog.containers.network_failures import find_network_failure


@pytest.mark.parametrize(
    "line",
    [
        "curl: (6) Could not resolve host: packages.example",
        "wget: unable to resolve host address 'packages.example'",
        "Err:1 http://deb.example/debian bookworm InRelease",
        "W: Failed to fetch http://deb.example/dists/x Temporary failure resolving 'deb.example'",
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError(no)': /simple/pytest/",
        "error: Failed to fetch: `https://packages.example/simple/pytest/`: dns error: failed to lookup address",
        "  Caused by: error sending request for url (https://packages.example/simple/pytest/)",
        "npm error code ENOTFOUND",
        "npm ERR! network request to https://packages.example failed, reason: getaddrinfo EAI_AGAIN packages.example",
        "fatal: unable to access 'https://code.example/a.git/': Could not resolve host: code.example",
        "fatal: unable to access 'https://code.example/a.git/': CONNECT tunnel failed, response 403",
        "curl: (56) CONNECT tunnel failed, response 403",
        "WARNING: Retrying (Retry(total=4)) after connection broken by 'ProxyError('no')': /simple/pytest/",
        "Proxy tunneling failed: Forbidden",
        'go: example.org/a@v1: Get "https://proxy.example": dial tcp: lookup proxy.example: no such host',
    ],
)
def test_a_program_that_cannot_fetch_is_recognised(line: str) -> None:
    assert (
        find_network_failure(f"installing\n{line}\nrun-tests.sh: line 9: uvx: command not found\n")
        == line.strip()
    )


@pytest.mark.parametrize(
    "log",
    [
        "",
        "curl: (7) Failed to connect to localhost port 8080: Connection refused",
        "curl: (7) Failed to connect to 127.0.0.1 port 8080: Connection refused",
        "curl: (22) The requested URL returned error: 404",
        "AssertionError: expected 'curl: (6) Could not resolve host'",
        "+    # curl: (6) Could not resolve host",
        "curl: (6) Could not resolve host: a.example\n===== test session starts =====\nFAILED test_a.py::test_b",
    ],
)
def test_a_server_of_the_task_or_tests_that_ran_are_no_failure_of_the_network(log: str) -> None:
    assert find_network_failure(log) is None
