"""Export of spans and events to a collector, by OpenTelemetry's exporters in background threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

from opentelemetry import trace
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider, ReadableLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExportResult
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

SERVICE_NAME = "benchwright"


class TelemetryExporter:
    """Exporter of spans and events in batches.

    `at_once`: number of spans in a batch. `patience`: maximum seconds for a response of the collector.
    """

    def __init__(self, url: str, at_once: int, most_waiting: int, patience: float) -> None:
        self._patience = patience
        self._counts = _Counts()
        resource = Resource.create({"service.name": SERVICE_NAME})
        self._traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._logs = LoggerProvider(resource=resource, shutdown_on_exit=False)
        spans = _Spans(f"{url}/v1/traces", patience, self._counts)
        events = _Events(f"{url}/v1/logs", patience, self._counts)
        self._traces.add_span_processor(
            BatchSpanProcessor(spans, max_queue_size=most_waiting, max_export_batch_size=at_once)
        )
        self._logs.add_log_record_processor(
            BatchLogRecordProcessor(events, max_queue_size=most_waiting, max_export_batch_size=at_once)
        )
        self._tracer = self._traces.get_tracer(SERVICE_NAME)
        self._logger = self._logs.get_logger(SERVICE_NAME)

    def record_span(
        self,
        name: str,
        attributes: Mapping[str, Any],
        began: int,
        ended: int,
        parent: Span | None = None,
        error: str | None = None,
    ) -> Span:
        """Record a finished span, and return it, so that later spans and events can name it as their parent.

        Times are wall-clock ns.
        """
        self._counts.made += 1
        span = self._tracer.start_span(
            name,
            None if parent is None else trace.set_span_in_context(parent),
            SpanKind.INTERNAL if parent is None else SpanKind.CLIENT,
            dict(attributes),
            start_time=began,
        )
        if error is not None:
            span.set_status(Status(StatusCode.ERROR, error))
        span.end(ended)
        return span

    def record_event(self, name: str, attributes: Mapping[str, Any], at: int, parent: Span) -> None:
        """Record an event that belongs to a span. `at`: wall-clock time in ns."""
        self._counts.made += 1
        context = trace.set_span_in_context(parent)
        record = LogRecord(timestamp=at, context=context, event_name=name, attributes=dict(attributes))
        self._logger.emit(record)

    def close(self) -> tuple[int, int]:
        """Send the spans and events that are still queued. Return (number sent, number lost)."""
        for provider in (self._traces, self._logs):
            provider.force_flush(round(1000 * self._patience))
            provider.shutdown()
        return self._counts.sent, self._counts.made - self._counts.sent


class _Counts:
    """Number of recorded spans and events, and number of those that a collector accepted."""

    def __init__(self) -> None:
        self.made = 0
        self.sent = 0
        self._lock = Lock()

    def took(self, count: int) -> None:
        with self._lock:
            self.sent += count


class _Spans(OTLPSpanExporter):
    """OpenTelemetry's span exporter, which also counts accepted spans."""

    def __init__(self, endpoint: str, patience: float, counts: _Counts) -> None:
        super().__init__(endpoint, timeout=patience)
        self._counts = counts

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if result is SpanExportResult.SUCCESS:
            self._counts.took(len(spans))
        return result


class _Events(OTLPLogExporter):
    """OpenTelemetry's log exporter, which also counts accepted events."""

    def __init__(self, endpoint: str, patience: float, counts: _Counts) -> None:
        super().__init__(endpoint, timeout=patience)
        self._counts = counts

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        result = super().export(batch)
        if result is LogRecordExportResult.SUCCESS:
            self._counts.took(len(batch))
        return result
