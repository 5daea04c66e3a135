"""The batch of a simulated server: decides which requests run, which requests wait, and which request is preempted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter_ns
from typing import Protocol

from benchwright.endpoint.simulate import shared_counters as cell
from benchwright.endpoint.simulate.prefix_cache import PrefixCache, RequestTokens
from benchwright.endpoint.simulate.truth_log import TruthRecord


class BatchMember(Protocol):
    """Interface of a generation request that a batch uses."""

    truth: TruthRecord
    tokens: RequestTokens

    @property
    def generated_tokens(self) -> int:
        """Number of tokens of the request's answer so far."""
        ...

    def begin(self, prefilled: int) -> None:
        """Begin or continue the answer, after a prefill that ends at the time `prefilled`."""
        ...

    def pause(self) -> None:
        """Stop the answer until `begin` is called again."""
        ...


class Batch:
    """The requests of one process, running or waiting.

    At most `slots` requests run (None: any number), and only as many as fit into the cache. The other
    requests wait, and begin in the order of their arrival. If a running request needs a block when all blocks
    are in use, the request that began last is preempted, even if it is the one that needs the block. The
    preempted request gives its blocks back, becomes the first of the waiting requests, and later repeats its
    prefill, except for cached tokens.

    `token_ns`: the time of the prefill, in ns per token that is not cached. `soon`: a function that schedules
    another function to be called after the current one.
    """

    def __init__(
        self,
        slots: int | None,
        cache: PrefixCache | None,
        token_ns: float,
        cells: memoryview[int],
        soon: Callable[[Callable[[], None]], object],
    ) -> None:
        self._slots = slots
        self._cache = cache
        self._token_ns = token_ns
        self._cells = cells
        self._soon = soon
        self._running: OrderedDict[BatchMember, None] = OrderedDict()
        self._waiting: OrderedDict[BatchMember, int] = OrderedDict()  # each with the time since when it waits

    def add_member(self, member: BatchMember, now: int) -> None:
        """Add a request. It begins now if there is room, or later when it is its turn."""
        if self._waiting or not self._begin(member, now):
            self._wait(member, now)

    def remove_member(self, member: BatchMember) -> None:
        """Remove a request that has ended, or one whose client disconnected while the request waited."""
        if member in self._running:
            self._stop(member)
        else:
            self._end_waiting(member, perf_counter_ns())
        if self._waiting:
            self._soon(self._begin_those_that_wait)

    def make_room_for_token(self, member: BatchMember) -> bool:
        """Make room for the next token of a running request.

        Return False if that request itself was preempted.
        """
        assert self._cache is not None
        number = member.tokens.prompt + member.generated_tokens
        while not self._cache.assign_more_blocks(member.tokens, number):
            youngest = next(reversed(self._running))
            self._preempt(youngest)
            if youngest is member:
                return False
        self._cells[cell.USED_BLOCKS] = self._cache.used_blocks
        return True

    def _begin_those_that_wait(self) -> None:
        while self._waiting:
            member = next(iter(self._waiting))
            if not self._begin(member, perf_counter_ns()):
                return

    def _begin(self, member: BatchMember, now: int) -> bool:
        """Begin a request and return True. Return False if there is no slot or no cache block for the request."""
        if self._slots is not None and len(self._running) >= self._slots:
            return False
        tokens = member.tokens
        number = tokens.prompt + member.generated_tokens
        if self._cache is not None:
            entered = self._cache.assign_blocks(tokens, number, now)
            self._cells[cell.USED_BLOCKS] = self._cache.used_blocks
            if not entered:
                return False
        if member in self._waiting:
            self._end_waiting(member, now)
        tokens.start, tokens.end = now, now + round((number - tokens.cached) * self._token_ns)
        self._running[member] = None
        self._note(member)
        member.begin(tokens.end)
        return True

    def _note(self, member: BatchMember) -> None:
        truth, tokens = member.truth, member.tokens
        if not member.generated_tokens:
            truth.prefill_start, truth.prefill_end = tokens.start, tokens.end
        if truth.preemptions:
            return
        self._cells[cell.PROMPT_TOKENS] += tokens.prompt
        if self._cache is not None:
            truth.cached_tokens = tokens.cached
            self._cells[cell.PREFIX_QUERIES] += tokens.prompt
            self._cells[cell.PREFIX_HITS] += tokens.cached

    def _preempt(self, member: BatchMember) -> None:
        self._stop(member)
        self._wait(member, perf_counter_ns())
        self._waiting.move_to_end(member, last=False)
        self._cells[cell.PREEMPTIONS] += 1
        member.truth.preemptions += 1
        member.pause()

    def _stop(self, member: BatchMember) -> None:
        del self._running[member]
        if self._cache is not None:
            number = member.tokens.prompt + member.generated_tokens
            self._cache.release_blocks(member.tokens, number, perf_counter_ns())
            self._cells[cell.USED_BLOCKS] = self._cache.used_blocks

    def _wait(self, member: BatchMember, now: int) -> None:
        self._waiting[member] = now
        self._cells[cell.WAITING] += 1

    def _end_waiting(self, member: BatchMember, now: int) -> None:
        member.truth.queued += now - self._waiting.pop(member)
        self._cells[cell.WAITING] -= 1
