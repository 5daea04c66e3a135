"""`--otel URL`: what a collector of OpenTelemetry receives of a run, read by OpenTelemetry's own messages."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.app.app_kit import NOWHERE, Program
from tests.http_server import served_by
from tests.simulated import simulated_endpoint

ROWS = 3


class Collector(BaseHTTPRequestHandler):
    """Keeps what it is sent."""

    received: list[tuple[str, bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def collector() -> Iterator[str]:
    Collector.received = []
    with served_by(Collector) as url:
        yield url


@pytest.fixture
def url() -> Iterator[str]:
    key = [{"prompt": f"{number}+1", "answer": str(number + 1)} for number in range(ROWS)]
    with simulated_endpoint("--accuracy", "1", answers=key) as found:
        yield found


def command(program: Program, url: str, otel: str) -> list[str]:
    rows = [{"question": f"{number}+1", "answer": str(number + 1)} for number in range(ROWS)]
    (program.directory / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        *("eval", "-d", "sums.jsonl", "--scorer", "numeric", "--model", "org/m", "--base-url", url),
        *("--otel", otel),
    ]


def spans() -> list[Any]:
    found = []
    for path, body in Collector.received:
        if path == "/v1/traces":
            message = ExportTraceServiceRequest.FromString(body)
            found += [
                one for part in message.resource_spans for scope in part.scope_spans for one in scope.spans
            ]
    return found


def events() -> list[Any]:
    found = []
    for path, body in Collector.received:
        if path == "/v1/logs":
            message = ExportLogsServiceRequest.FromString(body)
            found += [
                one
                for part in message.resource_logs
                for scope in part.scope_logs
                for one in scope.log_records
            ]
    return found


def attributes(one: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, str(pair.value.WhichOneof("value"))) for pair in one.attributes}


def test_a_trial_is_a_span_its_request_another_below_it_and_its_score_an_event(
    program: Program, url: str, collector: str
) -> None:
    ended = program.run(*command(program, url, collector))
    assert ended.returncode == 0, ended.stderr
    assert f"{3 * ROWS} spans and events were sent" in ended.stderr
    trials = {one.span_id: one for one in spans() if one.name == "trial sums"}
    requests = [one for one in spans() if one.name == "chat org/m"]
    assert (len(trials), len(requests), len(events())) == (ROWS, ROWS, ROWS)
    for request in requests:
        trial = trials[request.parent_span_id]
        assert trial.start_time_unix_nano <= request.start_time_unix_nano
        assert request.end_time_unix_nano <= trial.end_time_unix_nano
        found = attributes(request)
        assert found["gen_ai.operation.name"] == "chat"
        assert found["gen_ai.request.model"] == "org/m"
        assert found["gen_ai.usage.output_tokens"] > 0
        assert found["server.address"] == "127.0.0.1"
    for event in events():
        assert event.event_name == "gen_ai.evaluation.result"
        assert event.span_id in trials
        assert attributes(event) == {
            "gen_ai.evaluation.name": "numeric",
            "gen_ai.evaluation.score.value": 1.0,
        }


def test_a_failure_is_told(program: Program, collector: str) -> None:
    program.run(*command(program, NOWHERE, collector), "--no-probe", "--retries", "0")
    assert {one.status.code for one in spans()} == {2}
    assert any("error.type" in attributes(one) for one in spans())


def test_prompts_and_answers_are_not_sent(program: Program, url: str, collector: str) -> None:
    program.run(*command(program, url, collector))
    assert not any(b"2+1" in body for _, body in Collector.received)


def test_a_collector_that_is_not_there_costs_a_warning(program: Program, url: str) -> None:
    ended = program.run(*command(program, url, NOWHERE.removesuffix("/v1")))
    assert ended.returncode == 0, ended.stderr
    assert f"Warning: {3 * ROWS} of {3 * ROWS} spans and events could not be sent" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("address", ["localhost:4318", "ftp://x", "http://"])
def test_an_address_that_is_none_is_refused_before_anything_is_asked(program: Program, address: str) -> None:
    ended = program.run(*command(program, NOWHERE, address))
    assert ended.returncode == 1
    assert "--otel" in ended.stderr
    assert not (program.home / "runs").exists()
