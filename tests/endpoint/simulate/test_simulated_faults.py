"""Faults: each is what it is called, comes as often as was asked, and is counted."""

from __future__ import annotations

import http.client
import json
import time
from email.utils import parsedate_to_datetime
from itertools import pairwise
from typing import Any

import pytest
from tests.endpoint.simulate.simulate_kit import Client, Simulate

from benchwright.endpoint.simulate import Delay, Faults
from benchwright.endpoint.simulate.settings import FAULT_KINDS
from benchwright.errors import UserError

Pieces = list[tuple[float, bytes]]
"""Everything received for one request, each piece with the moment at which it came."""

PACED: dict[str, Any] = {"first_token": Delay(mean_ms=2), "between_tokens": Delay(mean_ms=2)}
REMEMBERING: dict[str, Any] = {**PACED, "cache_blocks": 100}


def ask_raw(client: Client, *, stream: bool) -> tuple[Pieces, ConnectionResetError | None]:
    """What is received for one request, and the error at the end, if any."""
    body = json.dumps({"messages": [{"role": "user", "content": "one two three"}], "stream": stream}).encode()
    pieces: Pieces = []
    with client.open_socket() as connection:
        connection.sendall(client.request_bytes(body, f"Content-Length: {len(body)}", "Connection: close"))
        try:
            while piece := connection.recv(65536):
                pieces.append((time.monotonic(), piece))
        except ConnectionResetError as error:
            return pieces, error
    return pieces, None


def content(pieces: Pieces) -> bytes:
    return b"".join(piece for _, piece in pieces)


def longest_pause(pieces: Pieces) -> float:
    moments = [moment for moment, _ in pieces]
    return max(after - before for before, after in pairwise(moments))


def test_rate_limit_tells_the_seconds_to_wait(simulate: Simulate) -> None:
    answer = simulate(faults=Faults(rate_limit=1, retry_after=0.5)).chat("hi")

    assert answer.status == 429
    assert answer.headers["retry-after"] == "0.5"
    assert answer.json["error"]["code"] == "rate_limit_exceeded"


def test_rate_limit_can_tell_a_date(simulate: Simulate) -> None:
    answer = simulate(faults=Faults(rate_limit=1, retry_after=60, retry_after_date=True)).chat("hi")

    wait = parsedate_to_datetime(answer.headers["retry-after"]).timestamp() - time.time()
    assert 55 < wait <= 60


def test_server_errors_are_500_and_503(simulate: Simulate) -> None:
    client = simulate(faults=Faults(server_error=1))

    assert {client.chat("hi").status for _ in range(20)} == {500, 503}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("settings", [{}, PACED, REMEMBERING])
def test_reset_breaks_the_connection_in_mid_body(
    simulate: Simulate, stream: bool, settings: dict[str, Any]
) -> None:
    pieces, error = ask_raw(simulate(faults=Faults(reset=1), **settings), stream=stream)

    assert error is not None
    assert b"\r\n\r\n" in content(pieces)
    assert b"[DONE]" not in content(pieces)


@pytest.mark.parametrize("settings", [{}, PACED, REMEMBERING])
def test_truncate_closes_without_done(simulate: Simulate, settings: dict[str, Any]) -> None:
    pieces, error = ask_raw(simulate(faults=Faults(truncate=1), **settings), stream=True)

    assert error is None
    assert b'"role":"assistant"' in content(pieces)
    assert b"[DONE]" not in content(pieces)
    assert not content(pieces).endswith(b"0\r\n\r\n")


def test_truncate_leaves_a_whole_answer_short(simulate: Simulate) -> None:
    with pytest.raises(http.client.IncompleteRead):
        simulate(faults=Faults(truncate=1)).chat("hi")


@pytest.mark.parametrize("stream", [True, False])
def test_stall_pauses_and_then_goes_on(simulate: Simulate, stream: bool) -> None:
    faults = Faults(stall=1, stall_seconds=0.3)
    pieces, _ = ask_raw(simulate(faults=faults, **PACED), stream=stream)

    assert longest_pause(pieces) > 0.25
    assert content(pieces).endswith(b"0\r\n\r\n" if stream else b"}")


@pytest.mark.parametrize("stream", [True, False])
def test_slow_headers_keep_the_status_line_waiting_for_the_rest(simulate: Simulate, stream: bool) -> None:
    pieces, _ = ask_raw(simulate(faults=Faults(slow_headers=1, slow_header_seconds=0.3)), stream=stream)

    assert pieces[0][1] == b"HTTP/1.1 200 OK\r\n"
    assert pieces[1][0] - pieces[0][0] > 0.25
    assert content(pieces).endswith(b"0\r\n\r\n" if stream else b"}")


def test_malformed_streams_have_one_event_that_is_no_json(simulate: Simulate) -> None:
    events = simulate(faults=Faults(malformed=1)).chat("one two three", stream=True).events

    bad = []
    for event in events[:-1]:
        try:
            json.loads(event)
        except ValueError:
            bad.append(event)
    assert len(bad) == 1
    assert events[-1] == "[DONE]"


def test_malformed_bodies_are_no_json(simulate: Simulate) -> None:
    answer = simulate(faults=Faults(malformed=1)).chat("hi")

    assert answer.status == 200
    with pytest.raises(ValueError, match=r"JSON|Unterminated|Expecting"):
        json.loads(answer.body)


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_every_fault_is_counted_and_only_harmless_ones_are_answers(simulate: Simulate, kind: str) -> None:
    rate: dict[str, Any] = {kind: 1}
    client = simulate(faults=Faults(**rate, stall_seconds=0.01, slow_header_seconds=0.01))
    for _ in range(3):
        ask_raw(client, stream=True)

    stats = client.stats
    assert stats.requests == 3
    assert stats.faults == {**dict.fromkeys(FAULT_KINDS, 0), kind: 3}
    assert stats.answered == (3 if kind in ("stall", "slow_headers") else 0)
    assert stats.aborted == 0
    assert [truth.fault for truth in client.log] == [kind] * 3
    assert {truth.complete for truth in client.log} == {stats.answered == 3}


def test_faults_come_at_their_rates_in_a_seeded_order(simulate: Simulate) -> None:
    def statuses(seed: int) -> list[int]:
        client = simulate(seed=seed, faults=Faults(rate_limit=0.2, server_error=0.1))
        return [client.chat("hi").status for _ in range(500)]

    first = statuses(1)
    assert statuses(1) == first
    assert statuses(2) != first
    assert 60 <= first.count(429) <= 140
    assert 25 <= first.count(500) + first.count(503) <= 80


def test_faults_stop_at_their_bound(simulate: Simulate) -> None:
    client = simulate(faults=Faults(rate_limit=0.5, server_error=0.5, max_faults=7))

    assert [client.chat("hi").status for _ in range(20)].count(200) == 13
    assert sum(client.stats.faults.values()) == 7


def test_faults_spare_everything_but_generation(simulate: Simulate) -> None:
    client = simulate(faults=Faults(server_error=1))

    assert client.ask("GET", "/v1/models").status == 200
    assert client.ask("POST", "/tokenize", {"prompt": "hi"}).status == 200
    assert client.complete("hi").status in (500, 503)


@pytest.mark.parametrize("rates", [{"reset": -0.1}, {"reset": 1.1}, {"reset": 0.6, "stall": 0.6}])
def test_impossible_rates_are_a_user_error(rates: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="rate"):
        Faults(**rates)
