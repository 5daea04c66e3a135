"""Totals, histograms and columns of times of the requests to one target."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from benchwright.endpoint.flags import (
    DIALECT_UNDECIDED_FLAG,
    FLAG_NOTES,
    TRANSLATED_FLAG,
    flag_kind,
    left_out_names,
)
from benchwright.records import SIDE_ROLE, RequestRecord, Usage
from benchwright.runs.concurrency_history import SETTLING_FLAG, counts_in_throughput, counts_in_timings
from benchwright.runs.standstills import STANDSTILL_FLAG
from benchwright.stats.histogram import bucket_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIMING_COLUMNS = ("ttft", "ttfa", "latency", "generation_tps")


class SideRequestFigures:
    """Counts of side requests and of their tokens. Side requests are those that an agent makes for titles or
    summaries.

    `answered`: number of side requests with an answer. `uncounted`: number of side requests with an answer
    but without token counts.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.answered = 0
        self.uncounted = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0

    def add_request(self, request: RequestRecord) -> None:
        """Count one request."""
        self.requests += 1
        self.prompt_tokens += request.prompt_tokens
        self.completion_tokens += request.completion_tokens
        if request.error is None:
            self.answered += 1
            self.uncounted += lacks_token_counts(request)


def lacks_token_counts(request: RequestRecord) -> bool:
    """Return True if a token count of a request is unknown, because the server did not report it."""
    return request.usage.completion_tokens is None or request.usage.prompt_tokens is None


def thinking_tokens(usage: Usage) -> int | None:
    """Return the number of reasoning tokens that the server counted.

    If the server did not count them, return our estimate. Return None if there is no estimate either.
    """
    return usage.estimated_reasoning_tokens if usage.reasoning_tokens is None else usage.reasoning_tokens


class RequestFigures:
    """Figures of all requests that a run made to one target.

    Requests of attempts that do not count are included. Requests with the role `model` are counted here.
    Requests with the role `side` (titles or summaries by an agent) are counted in `side`. For all other
    roles, only the number of requests is kept (`other_roles`).

    - `translated`: number of requests that were translated because the server offers chat completions only.
    - `undecided`: number of requests for which it is unknown whether the server offers only chat completions.
    - `left_out`: {header or field: number of requests sent without it because the server refuses it}.
    - `noted`: {kind of peculiarity: number of requests that show it}; see `endpoint.flags.FLAG_NOTES`.
    - `uncounted`: number of answered requests without token counts.
    - `reasoning_tokens`: total of reasoning tokens. The server counted them for `reasoning_counted` requests;
      we estimated them for `reasoning_estimated` requests.
    - `stood_still`: number of requests during which our process stood still. Times come only from answered
      requests at a settled concurrency without a standstill (`concurrency_history.counts_in_timings`).
    - `at_once`: number of answers that arrived in one piece, so that the speed of their tokens is unknown.
    - `resent`: number of requests sent again because the server had closed the connection. Each lost at most
      `longest_lost` ns.
    - `sent`: {setting: {value: number of requests}}, over the `settings_read` requests that were sent by
      other programs and whose settings were read.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.failed = 0
        self.answered = 0
        self.uncounted = 0
        self.retried = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.reasoning_tokens = 0
        self.reasoning_counted = 0
        self.reasoning_estimated = 0
        self.waited = 0
        self.timed = 0
        self.at_once = 0
        self.resent = 0
        self.longest_lost = 0
        self.settling = 0
        self.stood_still = 0
        self.prompt_tps = 0.0
        self.prompt_tps_count = 0
        self.gaps: dict[int, int] = {}
        self.dispatch_lags: dict[int, int] = {}
        self.detect_lags: dict[int, int] = {}
        self.translated = 0
        self.undecided = 0
        self.left_out: dict[str, int] = {}
        self.noted: dict[str, int] = {}
        self.settings_read = 0
        self.sent: dict[str, dict[str, int]] = {}
        self.side = SideRequestFigures()
        self.other_roles: dict[str, int] = {}
        self._times: Mapping[str, array[float]] = {name: array("f") for name in TIMING_COLUMNS}

    def add_request(self, request: RequestRecord) -> None:
        """Count one request."""
        if request.role != "model":
            self.other_roles[request.role] = self.other_roles.get(request.role, 0) + 1
            if request.role == SIDE_ROLE:
                self.side.add_request(request)
            return
        usage = request.usage
        self.requests += 1
        self.retried += request.attempts > 1
        self.waited += request.waited
        self.prompt_tokens += usage.prompt_tokens or 0
        self.completion_tokens += usage.completion_tokens or 0
        self.failed += request.error is not None
        self.settling += SETTLING_FLAG in request.flags
        self.stood_still += STANDSTILL_FLAG in request.flags
        self.resent += request.resent > 0
        self.longest_lost = max(self.longest_lost, request.lost)
        self.translated += TRANSLATED_FLAG in request.flags
        self.undecided += DIALECT_UNDECIDED_FLAG in request.flags
        if request.flags:
            self._count_flags(request.flags)
        if request.settings is not None:
            self._count_settings(request.settings)
        if request.error is None:
            self.answered += 1
            self.uncounted += lacks_token_counts(request)
            self.reasoning_tokens += thinking_tokens(usage) or 0
            self.reasoning_counted += usage.reasoning_tokens is not None
            self.reasoning_estimated += usage.estimated_reasoning_tokens is not None
        self.timed += counts_in_throughput(request)
        if counts_in_timings(request):
            self._time(request)

    def _count_flags(self, flags: Sequence[str]) -> None:
        for name in left_out_names(flags):
            self.left_out[name] = self.left_out.get(name, 0) + 1
        for kind in {flag_kind(flag) for flag in flags} & FLAG_NOTES.keys():
            self.noted[kind] = self.noted.get(kind, 0) + 1

    def _count_settings(self, settings: Mapping[str, int | float | str]) -> None:
        self.settings_read += 1
        for name, value in settings.items():
            values, shown = self.sent.setdefault(name, {}), str(value)
            values[shown] = values.get(shown, 0) + 1

    def _time(self, request: RequestRecord) -> None:
        times = self._times
        times["latency"].append(request.total / 1e9)
        _count(self.dispatch_lags, bucket_of(max(0, request.dispatch_lag)))
        _count(self.detect_lags, bucket_of(max(0, request.detect_lag)))
        if request.ttft is not None:
            times["ttft"].append(request.ttft / 1e9)
            self.at_once += request.is_single_burst
            if (speed := request.tokens_per_second_generation) is not None:
                times["generation_tps"].append(speed)
            if (speed := request.tokens_per_second_prompt) is not None:
                self.prompt_tps += speed
                self.prompt_tps_count += 1
        if request.ttfa is not None:
            times["ttfa"].append(request.ttfa / 1e9)
        for slot, count in request.gaps.items() if request.streaming_duration is not None else ():
            self.gaps[slot] = self.gaps.get(slot, 0) + count

    def timing_column(self, name: str) -> NDArray[np.float32]:
        """Return a copy of the column `name` (one of TIMINGS), for the requests that have this figure.

        The values are in seconds or tokens per second.
        """
        import numpy as np

        return np.array(self._times[name], np.float32)


def _count(histogram: dict[int, int], slot: int) -> None:
    histogram[slot] = histogram.get(slot, 0) + 1
