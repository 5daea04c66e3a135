"""A request that is being answered: its exchange, as the batch begins it, holds it, and gives it room."""

from __future__ import annotations

from benchwright.endpoint.simulate.batch import Batch
from benchwright.endpoint.simulate.exchange import Channel, Exchange
from benchwright.endpoint.simulate.generation import Generated
from benchwright.endpoint.simulate.timing import Scheduler
from benchwright.endpoint.simulate.truth import Truth, TruthLog


class Job:
    """A request to generate, from when it came until it is over; a member of the batch."""

    def __init__(
        self,
        generated: Generated,
        channel: Channel,
        truth: Truth,
        batch: Batch,
        scheduler: Scheduler,
        log: TruthLog,
    ) -> None:
        self.truth = truth
        self.tokens = generated.tokens
        self.exchange = Exchange(channel, truth, self._ended, self._may_go_on)
        self._generated = generated
        self._batch = batch
        self._scheduler = scheduler
        self._log = log
        self._started = False

    @property
    def generated(self) -> int:
        """Tokens of its answer so far."""
        return self.exchange.generated

    def begin(self, prefilled: int) -> None:
        """Starts its answer, or goes on with it, after a prefill that ends at that moment."""
        due = prefilled + self._generated.delay
        if self._started:
            self.exchange.go_on_at(due)
        else:
            self._started = True
            due = self.exchange.start(self._generated.deliver(due))
        self._allow()
        self._scheduler.begin(due, self.exchange)

    def hold(self) -> None:
        """Stops its answer, until it is begun again."""
        self._scheduler.remove(self.exchange)

    def _allow(self) -> None:
        """Lets it fill its room; the last token it sends needs none, unless another one is to follow."""
        if self.tokens.room:
            self.exchange.allow(self.tokens.room - self.tokens.prompt + 1)

    def _may_go_on(self) -> bool:
        grown = self._batch.grow(self)
        if grown:
            self._allow()
        return grown

    def _ended(self, exchange: Exchange) -> None:
        self._generated.ended(exchange)
        self._batch.leave(self)
        self._log.add(self.truth)
        del self.exchange  # else only the garbage collector could part the two
