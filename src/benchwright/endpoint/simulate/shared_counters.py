"""Numbers that all processes of an endpoint share: counters, and the rounds of prompts with an entry in the answer key.

The round of an answer is the number of times that the prompt was answered before. The numbers are in
anonymous shared memory that forked processes inherit. Each process has its own counters, and a reader sums
them. All processes use the same rounds, which a lock guards.
"""

from __future__ import annotations

import fcntl
import mmap
import tempfile
from bisect import bisect_left
from contextlib import AbstractContextManager, nullcontext

from benchwright.endpoint.simulate.settings import ALL_FAULTS, FAULT_KINDS
from benchwright.records import Record

FINISH_REASONS = ("stop", "length", "tool_calls")
BUCKET_BOUNDS_MS = (
    1,
    2,
    5,
    10,
    20,
    40,
    60,
    80,
    100,
    250,
    500,
    750,
    1000,
    2500,
    5000,
    7500,
    10_000,
    20_000,
    60_000,
)
"""Upper bounds of the histograms' buckets in ms. One more bucket holds larger values."""

_BOUNDS_NS = [bound * 1_000_000 for bound in BUCKET_BOUNDS_MS]
_HISTOGRAM_WIDTH = len(BUCKET_BOUNDS_MS) + 2  # buckets, the one beyond, the sum

REQUESTS, ANSWERED, ABORTED, RUNNING, PROMPT_TOKENS, GENERATION_TOKENS, WAITING = range(7)
PREFIX_QUERIES, PREFIX_HITS, PREEMPTIONS, USED_BLOCKS = range(7, 11)
FINISHED_OFFSET = 11
FAULTS_OFFSET = FINISHED_OFFSET + len(FINISH_REASONS)
FIRST_TOKEN_OFFSET = FAULTS_OFFSET + len(ALL_FAULTS)
WHOLE_ANSWER_OFFSET = FIRST_TOKEN_OFFSET + _HISTOGRAM_WIDTH
QUEUE_OFFSET = WHOLE_ANSWER_OFFSET + _HISTOGRAM_WIDTH
PREFILL_OFFSET = QUEUE_OFFSET + _HISTOGRAM_WIDTH
_WIDTH = PREFILL_OFFSET + _HISTOGRAM_WIDTH


class EndpointStats(Record, frozen=True):
    """Statistics of all processes together since the start.

    `requests`: the number of accepted requests to generate. `answered`: requests that got a whole answer.
    `faults`: requests that were answered badly on purpose (stalled and slow answers count as answered, too,
    if they were sent whole). `aborted`: requests whose client disconnected before the end. `running`:
    requests in progress. `waiting`: requests in progress that have no slot yet. `finished`: the number of
    answered requests by finish reason.

    Each histogram holds a count per bucket of `BUCKET_BOUNDS_MS`, a count for larger values, and the sum in
    ns. `prefix_queries`: the number of prompt tokens of all requests that began. `prefix_hits`: the number of
    these tokens found in a prefix cache. `used_blocks`: the number of cache blocks that running requests
    hold. `preemptions`: how often running requests were preempted.
    """

    requests: int
    answered: int
    aborted: int
    running: int
    prompt_tokens: int
    generation_tokens: int
    finished: dict[str, int]
    faults: dict[str, int]
    first_token: tuple[list[int], int]
    whole_answer: tuple[list[int], int]
    queue: tuple[list[int], int]
    prefill: tuple[list[int], int]
    waiting: int = 0
    prefix_queries: int = 0
    prefix_hits: int = 0
    preemptions: int = 0
    used_blocks: int = 0


class Counters:
    """Counters of one process. Callers increase a counter directly: `cells[REQUESTS] += 1`."""

    def __init__(self, cells: memoryview[int]) -> None:
        self.cells = cells

    def observe(self, histogram: int, duration_ns: int) -> None:
        """Add a duration to a histogram.

        `histogram`: the histogram's offset: FIRST_TOKEN, WHOLE_ANSWER, QUEUE or PREFILL.
        """
        self.cells[histogram + bisect_left(_BOUNDS_NS, duration_ns)] += 1
        self.cells[histogram + _HISTOGRAM_WIDTH - 1] += duration_ns


class SharedCounters:
    """The memory that all processes share.

    `counters`: the counters of each process. `rounds`: two cells for each prompt that has an entry in the
    answer key (see `answer_key.PromptRounds`). `lock`: guards `rounds`.
    """

    def __init__(self, processes: int, prompts: int) -> None:
        cells = memoryview(mmap.mmap(-1, 8 * (processes * _WIDTH + 2 * prompts) or 8)).cast("Q")
        self.counters = [Counters(cells[index * _WIDTH : (index + 1) * _WIDTH]) for index in range(processes)]
        self.rounds = cells[processes * _WIDTH :]
        self.lock: AbstractContextManager[None] = nullcontext() if processes == 1 else _ProcessLock()

    def sum_counter(self, cell: int) -> int:
        """Return the counter at the offset `cell`, summed over all processes."""
        return sum(counters.cells[cell] for counters in self.counters)

    def stats(self) -> EndpointStats:
        """Return all statistics, summed over all processes."""
        totals = [self.sum_counter(cell) for cell in range(_WIDTH)]
        return EndpointStats(
            requests=totals[REQUESTS],
            answered=totals[ANSWERED],
            aborted=totals[ABORTED],
            running=totals[RUNNING],
            waiting=totals[WAITING],
            prefix_queries=totals[PREFIX_QUERIES],
            prefix_hits=totals[PREFIX_HITS],
            preemptions=totals[PREEMPTIONS],
            used_blocks=totals[USED_BLOCKS],
            prompt_tokens=totals[PROMPT_TOKENS],
            generation_tokens=totals[GENERATION_TOKENS],
            finished=dict(zip(FINISH_REASONS, totals[FINISHED_OFFSET:FAULTS_OFFSET], strict=True)),
            faults=_faults(totals[FAULTS_OFFSET:FIRST_TOKEN_OFFSET]),
            first_token=_histogram_at(FIRST_TOKEN_OFFSET, totals),
            whole_answer=_histogram_at(WHOLE_ANSWER_OFFSET, totals),
            queue=_histogram_at(QUEUE_OFFSET, totals),
            prefill=_histogram_at(PREFILL_OFFSET, totals),
        )


def _faults(totals: list[int]) -> dict[str, int]:
    """Return the number of faults by kind. Quirks are included only if they have occurred."""
    counts = dict(zip(ALL_FAULTS, totals, strict=True))
    return {kind: count for kind, count in counts.items() if count or kind in FAULT_KINDS}


def _histogram_at(place: int, totals: list[int]) -> tuple[list[int], int]:
    end = place + _HISTOGRAM_WIDTH - 1
    return totals[place:end], totals[end]


class _ProcessLock(AbstractContextManager[None]):
    """A lock between processes: a POSIX record lock on an unnamed file.

    It is released if the process holding it dies.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the endpoint

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)
