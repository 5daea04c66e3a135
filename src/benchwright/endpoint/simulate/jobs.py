"""A request to generate, in progress.

`GenerationJob` connects the sending of the answer with the batch. The batch decides when the request begins
and pauses, and reserves cache blocks for it.
"""

from __future__ import annotations

from benchwright.endpoint.simulate.batch import Batch
from benchwright.endpoint.simulate.generation import PreparedAnswer
from benchwright.endpoint.simulate.response_sender import ClientConnection, ResponseSender
from benchwright.endpoint.simulate.timing import Scheduler
from benchwright.endpoint.simulate.truth_log import TruthLog, TruthRecord


class GenerationJob:
    """A request to generate, from its arrival to its end. It is a `BatchMember` of the batch."""

    def __init__(
        self,
        generated: PreparedAnswer,
        channel: ClientConnection,
        truth: TruthRecord,
        batch: Batch,
        scheduler: Scheduler,
        log: TruthLog,
    ) -> None:
        self.truth = truth
        self.tokens = generated.tokens
        self.exchange = ResponseSender(channel, truth, self._ended, self._may_go_on)
        self._generated = generated
        self._batch = batch
        self._scheduler = scheduler
        self._log = log
        self._started = False

    @property
    def generated_tokens(self) -> int:
        """Number of tokens of the request's answer so far."""
        return self.exchange.generated_tokens

    def begin(self, prefilled: int) -> None:
        """Begin or continue the answer, after a prefill that ends at the time `prefilled`."""
        due = prefilled + self._generated.delay_ns
        if self._started:
            self.exchange.set_next_due(due)
        else:
            self._started = True
            due = self.exchange.start(self._generated.make_response(due))
        self._allow()
        self._scheduler.run_or_add(due, self.exchange)

    def pause(self) -> None:
        """Stop the answer until `begin` is called again."""
        self._scheduler.remove(self.exchange)

    def _allow(self) -> None:
        """Allow the exchange to send as many tokens as fit into the request's cache blocks, plus one.

        A token needs room only if another token follows it.
        """
        if self.tokens.room:
            self.exchange.allow_tokens(self.tokens.room - self.tokens.prompt + 1)

    def _may_go_on(self) -> bool:
        grown = self._batch.make_room_for_token(self)
        if grown:
            self._allow()
        return grown

    def _ended(self, exchange: ResponseSender) -> None:
        self._generated.on_end(exchange)
        self._batch.remove_member(self)
        self._log.add(self.truth)
        del self.exchange  # a reference cycle, which only the garbage collector could free
