"""Telemetry of a run, sent to an OpenTelemetry collector (`--otel URL`).

A span is sent for each trial and for each of its requests, and an event for each score. Names follow
OpenTelemetry's GenAI conventions as of 2026 (gen_ai.*); other names begin with `benchwright.`. Prompts and
answers are not sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import benchwright
from benchwright.app.prepared_run import RunRequest
from benchwright.engine.run import RunListener
from benchwright.engine.worker import SolvedWork, WorkResult
from benchwright.errors import UserError
from benchwright.optional_libraries import importing
from benchwright.records import FAILED_STATUSES, RequestRecord, ScoreRecord, Target, TrialRecord
from benchwright.secrets import SECRETS
from benchwright.text import Say

BATCH_SIZE = 512
"""Number of spans in one export request to the collector."""

MAX_QUEUE_SIZE = 100_000
"""Maximum number of spans that wait to be sent. Further spans are dropped and counted."""

COLLECTOR_TIMEOUT = 10.0
"""Maximum seconds for one response of the collector.

Also the maximum seconds for sending the remaining spans at the end.
"""


class Telemetry:
    """Run listener that exports spans and events. `close` blocks until the collector responds: call it in a thread.

    Raises:
        UserError: If opentelemetry is not installed, or the URL is invalid.
    """

    def __init__(self, url: str, targets: Sequence[Target], task: str) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise UserError(f"--otel {url}: give the address of a collector, such as http://localhost:4318.")
        with importing("opentelemetry-sdk", "Telemetry needs", "otel"):
            from benchwright.app.telemetry_export import TelemetryExporter
        for name in ("opentelemetry.exporter", "opentelemetry.sdk"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # failures are reported once, at the end
        self.run = ""
        self._url = url
        self._targets = {target.slot: target for target in targets}
        self._task = task
        self._exports = TelemetryExporter(url.rstrip("/"), BATCH_SIZE, MAX_QUEUE_SIZE, COLLECTOR_TIMEOUT)
        self._unscored: dict[str, TrialRecord] = {}

    def on_start(self, total: int, done: int, again: int) -> None:
        """Do nothing: there is no span for the run itself."""

    def on_result(self, result: WorkResult) -> None:
        """Send the span of a trial once its scores have arrived."""
        if isinstance(result, SolvedWork):
            self._unscored[result.record.key] = result.record
        elif (record := self._unscored.pop(result.trial.key, None)) is not None:
            self._send(record, result.scores)

    def on_message(self, text: str) -> None:
        """Do nothing: messages are not sent."""

    def on_end(self) -> None:
        """Send the spans of trials that were solved but not scored."""
        for record in self._unscored.values():
            self._send(record, ())
        self._unscored.clear()

    def close(self) -> str:
        """Send the spans that are still queued. Return a sentence on how many were sent and lost."""
        sent, lost = self._exports.close()
        if lost:
            return f"Warning: {lost:,} of {sent + lost:,} spans and events could not be sent to {self._url}."
        return f"{sent:,} spans and events were sent to {self._url}."

    def _send(self, record: TrialRecord, scores: Sequence[ScoreRecord]) -> None:
        error = record.reason or str(record.status) if record.status in FAILED_STATUSES else None
        ended = record.started_at + record.duration
        about = self._about(record)
        trial = self._exports.record_span(
            f"trial {self._task}", about, record.started_at, ended, error=_redacted(error)
        )
        for one in record.requests:
            began = record.started_at + one.started
            named = f"chat {self._model(one.slot)}"
            self._exports.record_span(
                named, dict(self._asked(one)), began, began + one.total, trial, _redacted(one.error)
            )
        own = [(name, value, None) for name, value in record.scores.items()]
        for name, value, failure in [*own, *((one.scorer, one.value, _failure(one)) for one in scores)]:
            self._exports.record_event(
                "gen_ai.evaluation.result", _evaluation(name, value, failure), ended, trial
            )

    def _model(self, slot: str) -> str:
        target = self._targets.get(slot)
        return slot if target is None else target.model

    def _about(self, record: TrialRecord) -> dict[str, Any]:
        return {
            "benchwright.version": benchwright.__version__,
            "benchwright.run": self.run,
            "benchwright.sample": record.sample,
            "benchwright.repeat": record.repeat,
            "benchwright.slot": record.target,
            "benchwright.status": str(record.status),
            "gen_ai.request.model": self._model(record.target),
        }

    def _asked(self, request: RequestRecord) -> Iterator[tuple[str, Any]]:
        yield "gen_ai.operation.name", "chat"
        yield "gen_ai.provider.name", "openai-compatible"
        yield "gen_ai.request.model", self._model(request.slot)
        yield "benchwright.role", request.role
        yield "benchwright.attempts", request.attempts
        if (target := self._targets.get(request.slot)) is not None:
            address = urlsplit(target.base_url)
            known = {"server.address": address.hostname, "server.port": address.port}
            yield from ((name, value) for name, value in known.items() if value is not None)
        counts = {
            "gen_ai.usage.input_tokens": request.usage.prompt_tokens,
            "gen_ai.usage.output_tokens": request.usage.completion_tokens,
            "gen_ai.request.seed": request.seed,
        }
        yield from ((name, value) for name, value in counts.items() if value is not None)
        if request.finish_reason:
            yield "gen_ai.response.finish_reasons", [request.finish_reason]
        if request.ttft is not None:
            yield "benchwright.time_to_first_token", request.ttft / 1e9
        if request.error is not None:
            yield "error.type", request.error


def telemetry_of(request: RunRequest) -> Telemetry | None:
    """Return the telemetry listener of a run. None if the user did not ask for telemetry.

    Raises:
        UserError: If `Telemetry` raises it.
    """
    url, plan = request.settings.execution.otel, request.plan
    if url is None:
        return None
    return Telemetry(url, [*plan.targets, *plan.helper_targets], plan.task.spec.name)


@asynccontextmanager
async def telemetry_listeners(
    telemetry: Telemetry | None, directory: Path, say: Say
) -> AsyncIterator[Sequence[RunListener]]:
    """Yield the listeners to add to a run: the telemetry, or none.

    On exit, send the queued spans and report how many were sent.
    """
    if telemetry is None:
        yield ()
        return
    telemetry.run = directory.name
    try:
        yield (telemetry,)
    finally:
        say(await asyncio.to_thread(telemetry.close))


def _failure(score: ScoreRecord) -> str | None:
    return None if score.value is not None else str(score.status)


def _evaluation(name: str, value: float | None, failure: str | None) -> Mapping[str, Any]:
    found: dict[str, Any] = {"gen_ai.evaluation.name": name}
    if value is not None:
        found["gen_ai.evaluation.score.value"] = value
    if failure is not None:
        found["error.type"] = failure
    return found


def _redacted(text: str | None) -> str | None:
    return None if text is None else SECRETS.redact(text)
