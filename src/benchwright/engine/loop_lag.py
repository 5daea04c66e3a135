"""Loop lag: how late the event loop runs callbacks that are due.

The lag is sampled in every run. It limits the accuracy of timings. A lag of a second or more is a standstill:
the process was stopped, its container frozen, its machine suspended, or its loop blocked. Requests that were
due or in flight during a standstill are flagged and excluded from timings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter_ns, process_time_ns
from weakref import WeakKeyDictionary

from benchwright import clock
from benchwright.runs.process_delays import LoopLag, Standstill, StandstillCause
from benchwright.stats.histogram import bucket_of, quantile

SAMPLING_INTERVAL_SECONDS = 0.01
SAMPLING_INTERVAL_NS = int(SAMPLING_INTERVAL_SECONDS * 1e9)

MIN_STANDSTILL_NS = 1_000_000_000
"""Lag in ns from which on the process counts as having stood still."""

MAX_IDLE_CPU_SHARE = 0.1
"""A process counts as idle during a standstill if it used less than this share of one processor."""

OnStandstill = Callable[[Standstill], None]


class LoopLagSampler:
    """A periodic timer that records how late it fires. Use it as a context manager inside a running loop.

    During a long lag, the timer cannot take further samples. These are added afterwards, with the lag that they
    would have had (HdrHistogram's correction for coordinated omission). The percentiles thus cover all moments,
    not only those at which the loop was free. Standstills are recorded separately and excluded from the
    percentiles.
    """

    def __init__(self) -> None:
        self._lags: dict[int, int] = {}
        self._longest = 0
        self._due = self._cpu = self._asleep = self._ahead = 0
        self._standstills: list[Standstill] = []
        self._spans: list[tuple[int, int]] = []
        self._told: list[OnStandstill] = []
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> LoopLagSampler:
        _samplers[asyncio.get_running_loop()] = self
        self._asleep, self._ahead = clock.suspended_ns(), clock.system_clock_lead_ns() or 0
        self._schedule()
        return self

    def __exit__(self, *_: object) -> None:
        self.check_standstill()
        _samplers.pop(asyncio.get_running_loop(), None)
        if self._timer is not None:
            self._timer.cancel()

    @contextmanager
    def reporting_standstills(self, told: OnStandstill) -> Iterator[None]:
        """Call `told` with each standstill as soon as it has ended, while the context is open."""
        self._told.append(told)
        try:
            yield
        finally:
            self._told.remove(told)

    def stood_still_between(self, began: int, ended: int) -> bool:
        """Return True if the process stood still at some time between two moments (`perf_counter_ns`)."""
        return any(begin <= ended and end >= began for begin, end in self._spans)

    def check_standstill(self) -> bool:
        """Record a standstill that the timer has not noticed yet, if there is one.

        Return True if any standstill has been recorded so far.
        """
        now = perf_counter_ns()
        late, slept, jumped = max(0, now - self._due), self._slept(), self._jumped()
        unseen = max(slept, jumped if jumped >= MIN_STANDSTILL_NS else 0)
        if late + unseen >= MIN_STANDSTILL_NS:
            cause: StandstillCause = "suspended" if 2 * slept > unseen else "jumped"
            self._note(now, late, unseen, self._why_late(late) if late >= unseen else cause)
            self._expect(now)
        return bool(self._spans)

    def _slept(self) -> int:
        """Return the number of ns for which the machine was suspended since the last call."""
        slept = max(0, clock.suspended_ns() - self._asleep)
        self._asleep += slept
        return slept

    def _jumped(self) -> int:
        """Return the number of ns by which the system's clock has gained on our own clock since the last call."""
        ahead = clock.system_clock_lead_ns()
        if ahead is None:
            return 0
        jumped, self._ahead = ahead - self._ahead, ahead
        return jumped

    def _why_late(self, late: int) -> StandstillCause:
        return "busy" if process_time_ns() - self._cpu > MAX_IDLE_CPU_SHARE * late else "stopped"

    def _note(self, now: int, late: int, unseen: int, cause: StandstillCause) -> None:
        """Record a standstill. Our clock measured `late` ns of the standstill and missed `unseen` ns."""
        found = Standstill(clock.wall_ns() - late, late + unseen, cause)
        if unseen > late:
            clock.resync_wall_clock()
            self._ahead = 0
        self._standstills.append(found)
        self._spans.append((now - late - SAMPLING_INTERVAL_NS, now))
        self._longest = max(self._longest, found.ns)
        for told in list(self._told):
            told(found)

    def _schedule(self) -> None:
        self._expect(perf_counter_ns())
        self._timer = asyncio.get_running_loop().call_later(SAMPLING_INTERVAL_SECONDS, self._sample)

    def _expect(self, now: int) -> None:
        self._due = now + SAMPLING_INTERVAL_NS
        self._cpu = process_time_ns()

    def _sample(self) -> None:
        self.check_standstill()
        lag = max(1, perf_counter_ns() - self._due)
        self._longest = max(self._longest, lag)
        while lag > 0:
            slot = bucket_of(lag)
            self._lags[slot] = self._lags.get(slot, 0) + 1
            lag -= SAMPLING_INTERVAL_NS
        self._schedule()

    @property
    def loop_lag(self) -> LoopLag:
        """The percentiles of the lag so far, and the standstills."""
        if not self._lags:
            return LoopLag(standstills=self._standstills, longest=self._longest)
        # Buckets are accurate to 12.5 %, so a quantile may exceed the longest lag: bound it.
        p50, p99 = (min(int(quantile(self._lags, q)), self._longest) for q in (0.5, 0.99))
        return LoopLag(sum(self._lags.values()), p50, p99, self._longest, list(self._standstills))


_samplers: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopLagSampler] = WeakKeyDictionary()


def reporting_standstills(told: OnStandstill) -> AbstractContextManager[None]:
    """Call `told` with each standstill of the running event loop, while the context is open.

    `told` is never called if the lag of this loop is not sampled.
    """
    sampler = running_sampler()
    return nullcontext() if sampler is None else sampler.reporting_standstills(told)


def running_sampler() -> LoopLagSampler | None:
    """Return the sampler of the running event loop. None if its lag is not sampled."""
    return _samplers.get(asyncio.get_running_loop())
