"""Messages between the process that keeps the journal and the shards that run trials."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.plan import ConversationFilter, keep_all_conversations
from benchwright.engine.protocols import Task
from benchwright.engine.worker import TrialWork
from benchwright.errors import BenchwrightError
from benchwright.records import Record, ScoreRecord, Status, TrialLimits, TrialRecord
from benchwright.runs.process_delays import LoopLag


class ShardLost(BenchwrightError):
    """A shard has ended or is unreachable. Its trials in flight are run again elsewhere.

    `for_good`: True if no replacement can be started.
    """

    def __init__(self, message: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good


class RunTrials(Record, frozen=True, tag="do"):
    """Order to run these trials. Their results are sent without being asked for.

    `origin`: the moment (`perf_counter_ns`) from which due times count in all shards. If it is None, due
    times count from the shard's own start.
    """

    works: list[TrialWork]
    origin: int | None = None


class StopWork(Record, frozen=True, tag="stop"):
    """Order to give back the trials that have not begun.

    `cancel`: True to end the trials in flight as cancelled. `hurry`: True to wait no longer for stalled
    requests.
    """

    cancel: bool = False
    hurry: bool = False


class Shutdown(Record, frozen=True, tag="end"):
    """Order to send the last reports and end, because no more work follows."""


class WorkerReady(Record, frozen=True, tag="ready"):
    """First report of a shard: everything is loaded, and the shard can begin work at once."""


class TrialSolved(Record, frozen=True, tag="solved"):
    """Report of a solved trial; see `worker.SolvedWork`."""

    record: TrialRecord
    body: bytes
    systemic: bool = False
    earlier: int = 0


class TrialScored(Record, frozen=True, tag="done"):
    """Report of a scored trial, which is identified by its key; see `worker.ScoredWork`."""

    key: str
    status: Status
    scores: tuple[ScoreRecord, ...] = ()


class TrialsReturned(Record, frozen=True, tag="returned"):
    """Report of trials that the shard gives back because it has not begun them. `keys`: keys of these trials."""

    keys: list[str]


class ShardFailed(Record, frozen=True, tag="failed"):
    """Report that the shard cannot go on. `reason`: the cause, which the user can remove."""

    reason: str


class FinalReport(Record, frozen=True, tag="goodbye"):
    """Last report of a shard: its loop lag and its CPU seconds."""

    lag: LoopLag
    cpu_seconds: float


ShardOrder = RunTrials | StopWork | Shutdown
ShardReport = WorkerReady | TrialSolved | TrialScored | TrialsReturned | ShardFailed | FinalReport

encode_message = msgspec.msgpack.Encoder().encode
decode_order = msgspec.msgpack.Decoder(ShardOrder).decode
decode_reports = msgspec.msgpack.Decoder(list[ShardReport]).decode


class Shard(Protocol):
    """A connection to one shard, a process that runs trials."""

    async def send(self, message: bytes) -> None:
        """Send an encoded order.

        Raises:
            ShardLost: If the shard is lost.
        """
        ...

    async def receive(self) -> bytes:
        """Return the next encoded list of reports.

        Raises:
            ShardLost: If the shard is lost.
        """
        ...


class Shards(Protocol):
    """Starts shards (processes that run trials) of one kind."""

    @property
    def count(self) -> int:
        """Number of shards that run at the same time."""
        ...

    def open(self, number: int, concurrency: int) -> AbstractAsyncContextManager[Shard]:
        """Start a shard that runs up to `concurrency` trials at once. End the shard on exit.

        Raises:
            ShardLost: If the shard cannot be started.
        """
        ...


class ShardParts(msgspec.Struct, frozen=True):
    """The objects that a shard needs to run the trials of a plan.

    For `keep_condition` and `max_seconds` see `Plan`.
    """

    task: Task
    clients: Mapping[str, ModelClient]
    limits: TrialLimits
    keep_condition: ConversationFilter = keep_all_conversations
    max_seconds: float | None = None


class WorkerSpec(msgspec.Struct, frozen=True):
    """Specification from which a shard's process makes its `ShardParts`: a function (`module:function`), its
    arguments, and sys.path.

    The function is called with the shard's share of the concurrency, followed by the arguments. The function
    and the arguments must be picklable by name in another process. `environment`: variables to add to the
    environment of the process.
    """

    make: str
    arguments: tuple[Any, ...]
    path: tuple[str, ...]
    environment: Mapping[str, str] = {}

    def for_other_machine(self) -> WorkerSpec:
        """Return the specification for use on another machine, without this machine's sys.path."""
        return msgspec.structs.replace(self, path=())

    def encode(self) -> bytes:
        """Return the specification in the encoded form in which it is sent.

        It contains API keys, so it is only sent to shards and never written anywhere.
        """
        return pickle.dumps(msgspec.structs.astuple(self), pickle.HIGHEST_PROTOCOL)


def make_shard_parts(encoded_recipe: bytes, concurrency: int) -> ShardParts:
    """Make the parts of a shard from an encoded `WorkerSpec`.

    Call it only with a specification from our own parent process, because it is unpickled.

    Raises:
        UserError: If the specification needs something that has disappeared since the run was prepared.
    """
    import importlib
    import os
    import sys

    make, arguments, path, environment = pickle.loads(encoded_recipe)
    os.environ.update(environment)
    sys.path[:] = [*path, *(entry for entry in sys.path if entry not in path)]
    module, _, name = make.partition(":")
    function: Callable[..., ShardParts] = getattr(importlib.import_module(module), name)
    return function(concurrency, *arguments)
