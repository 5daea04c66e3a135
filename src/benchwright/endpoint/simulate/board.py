"""Numbers that all processes of an endpoint share: counters, and the rounds of keyed prompts.

They lie in anonymous shared memory that forked processes inherit. Each process adds to counters of its own,
and a reader sums them; the rounds are common and guarded by a lock.
"""

from __future__ import annotations

import fcntl
import mmap
import tempfile
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate

from benchwright.endpoint.simulate.settings import FAULT_KINDS
from benchwright.records import Record

FINISH_REASONS = ("stop", "length", "tool_calls")
BOUNDS_MS = (1, 2, 5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000, 20_000, 60_000)
"""Upper bounds of the histograms' buckets; one more bucket holds what is beyond."""

_BOUNDS_NS = [bound * 1_000_000 for bound in BOUNDS_MS]
_HISTOGRAM_WIDTH = len(BOUNDS_MS) + 2  # buckets, the one beyond, the sum

REQUESTS, ANSWERED, ABORTED, RUNNING, PROMPT_TOKENS, GENERATION_TOKENS, WAITING = range(7)
FINISHED = 7
FAULTED = FINISHED + len(FINISH_REASONS)
FIRST_TOKEN = FAULTED + len(FAULT_KINDS)
WHOLE_ANSWER = FIRST_TOKEN + _HISTOGRAM_WIDTH
_WIDTH = WHOLE_ANSWER + _HISTOGRAM_WIDTH


class Stats(Record, frozen=True):
    """What happened so far, all processes together.

    `requests` is how many requests to generate were received and accepted, of which `answered` got a whole
    answer, `faults` were answered badly on purpose (stalled and slow ones, when whole, are answered too), in
    `aborted` the client went away before the end, and `running` are under way; `waiting` of these have no slot yet.
    `finished` counts the answered by finish reason. Histograms hold a count per bucket of `BOUNDS_MS` and one
    beyond, and the sum in ns.
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
    waiting: int = 0


class Counters:
    """The counters of one process: `cells[REQUESTS] += 1`."""

    def __init__(self, cells: memoryview[int]) -> None:
        self.cells = cells

    def observe(self, histogram: int, duration_ns: int) -> None:
        """Adds a duration to the histogram at FIRST_TOKEN or WHOLE_ANSWER."""
        self.cells[histogram + bisect_left(_BOUNDS_NS, duration_ns)] += 1
        self.cells[histogram + _HISTOGRAM_WIDTH - 1] += duration_ns


class Board:
    """The shared memory: `counters` per process, two cells per keyed prompt in `rounds`, and `lock`."""

    def __init__(self, processes: int, prompts: int) -> None:
        cells = memoryview(mmap.mmap(-1, 8 * (processes * _WIDTH + 2 * prompts) or 8)).cast("Q")
        self.counters = [Counters(cells[index * _WIDTH : (index + 1) * _WIDTH]) for index in range(processes)]
        self.rounds = cells[processes * _WIDTH :]
        self.lock: AbstractContextManager[None] = nullcontext() if processes == 1 else _ProcessLock()

    def sum(self, cell: int) -> int:
        """One counter, all processes together."""
        return sum(counters.cells[cell] for counters in self.counters)

    def stats(self) -> Stats:
        """Everything, all processes together."""
        totals = [self.sum(cell) for cell in range(_WIDTH)]
        return Stats(
            requests=totals[REQUESTS],
            answered=totals[ANSWERED],
            aborted=totals[ABORTED],
            running=totals[RUNNING],
            waiting=totals[WAITING],
            prompt_tokens=totals[PROMPT_TOKENS],
            generation_tokens=totals[GENERATION_TOKENS],
            finished=dict(zip(FINISH_REASONS, totals[FINISHED:FAULTED], strict=True)),
            faults=dict(zip(FAULT_KINDS, totals[FAULTED:FIRST_TOKEN], strict=True)),
            first_token=(totals[FIRST_TOKEN : WHOLE_ANSWER - 1], totals[WHOLE_ANSWER - 1]),
            whole_answer=(totals[WHOLE_ANSWER:-1], totals[-1]),
        )


class _ProcessLock(AbstractContextManager[None]):
    """A POSIX record lock on a nameless file: it tells processes apart, and dies with its holder."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the endpoint

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)


def prometheus_text(stats: Stats, model: str) -> bytes:
    """The statistics under vLLM's names (https://docs.vllm.ai/en/stable/usage/metrics.html)."""
    label = f'model_name="{_escaped(model)}"'
    reasons = {f'finished_reason="{name}",{label}': number for name, number in stats.finished.items()}
    kinds = {f'kind="{name}"': number for name, number in stats.faults.items()}
    running = stats.running - stats.waiting
    lines = [
        *_family("vllm:num_requests_running", "gauge", "Requests being answered.", {label: running}),
        *_family("vllm:num_requests_waiting", "gauge", "Requests without a slot.", {label: stats.waiting}),
        *_family("vllm:prompt_tokens_total", "counter", "Prompt tokens.", {label: stats.prompt_tokens}),
        *_family(
            "vllm:generation_tokens_total", "counter", "Tokens generated.", {label: stats.generation_tokens}
        ),
        *_family("vllm:request_success_total", "counter", "Requests answered, by finish reason.", reasons),
        *_histogram("vllm:time_to_first_token_seconds", "Time to first token.", label, stats.first_token),
        *_histogram("vllm:e2e_request_latency_seconds", "Time to the last byte.", label, stats.whole_answer),
        *_family(
            "benchwright_simulated_requests_total", "counter", "Requests to generate.", {"": stats.requests}
        ),
        *_family("benchwright_simulated_answered_total", "counter", "Whole answers.", {"": stats.answered}),
        *_family("benchwright_simulated_aborted_total", "counter", "Clients that left.", {"": stats.aborted}),
        *_family("benchwright_simulated_faults_total", "counter", "Faults injected.", kinds),
    ]
    return ("\n".join(lines) + "\n").encode()


def _family(name: str, kind: str, about: str, samples: dict[str, int]) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples.items():
        yield f"{name}{{{labels}}} {value}" if labels else f"{name} {value}"


def _histogram(name: str, about: str, label: str, histogram: tuple[list[int], int]) -> Iterator[str]:
    counts, total_ns = histogram
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} histogram"
    bounds = [*(str(bound / 1000) for bound in BOUNDS_MS), "+Inf"]
    for bound, reached in zip(bounds, accumulate(counts), strict=True):
        yield f'{name}_bucket{{le="{bound}",{label}}} {reached}'
    yield f"{name}_count{{{label}}} {sum(counts)}"
    yield f"{name}_sum{{{label}}} {total_ns / 1e9}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
