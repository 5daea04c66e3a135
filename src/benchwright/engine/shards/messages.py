"""What goes between the process that keeps the journal and the shards that run trials."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

import msgspec

from benchwright.endpoint.providers import ModelClient
from benchwright.engine.plan import Keeps, keeps_all
from benchwright.engine.protocols import Task
from benchwright.engine.worker import Work
from benchwright.errors import BenchwrightError
from benchwright.records import Record, ScoreRecord, Status, TrialLimits, TrialRecord
from benchwright.runs.lag import LoopLag


class ShardLost(BenchwrightError):
    """A shard has ended, or cannot be reached any more; what it had under way is run again elsewhere.

    `for_good` tells that there is no place for another one.
    """

    def __init__(self, message: str, *, for_good: bool = False) -> None:
        super().__init__(message)
        self.for_good = for_good


class Do(Record, frozen=True, tag="do"):
    """Work for a shard, which goes on to its end without being asked for.

    `origin` is the moment from which the due times of all shards count (`perf_counter_ns`), None for that of the shard.
    """

    works: list[Work]
    origin: int | None = None


class Stop(Record, frozen=True, tag="stop"):
    """Gives back what has not begun; with `cancel` what is under way ends as cancelled.

    With `hurry` requests that get nowhere are not waited for.
    """

    cancel: bool = False
    hurry: bool = False


class End(Record, frozen=True, tag="end"):
    """Nothing more comes: the shard says goodbye and ends."""


class Ready(Record, frozen=True, tag="ready"):
    """The first message of a shard: what it needs is loaded, and it can begin work at once."""


class Solved(Record, frozen=True, tag="solved"):
    """See `worker.Solved`."""

    record: TrialRecord
    body: bytes
    systemic: bool = False
    earlier: int = 0


class Done(Record, frozen=True, tag="done"):
    """See `worker.Scored`; the trial is known by its key."""

    key: str
    status: Status
    scores: tuple[ScoreRecord, ...] = ()


class Returned(Record, frozen=True, tag="returned"):
    """The keys of trials that were not begun."""

    keys: list[str]


class Failed(Record, frozen=True, tag="failed"):
    """The shard cannot go on, for a reason that the user can mend."""

    reason: str


class Goodbye(Record, frozen=True, tag="goodbye"):
    """The last message of a shard: how late its loop was, and its CPU seconds."""

    lag: LoopLag
    cpu_seconds: float


ToShard = Do | Stop | End
FromShard = Ready | Solved | Done | Returned | Failed | Goodbye

encode = msgspec.msgpack.Encoder().encode
decode_order = msgspec.msgpack.Decoder(ToShard).decode
decode_reports = msgspec.msgpack.Decoder(list[FromShard]).decode


class Shard(Protocol):
    """One connection to a shard."""

    async def send(self, message: bytes) -> None:
        """Sends an encoded order.

        Raises:
            ShardLost: there is no shard any more.
        """
        ...

    async def receive(self) -> bytes:
        """The next encoded list of reports.

        Raises:
            ShardLost: there is no shard any more.
        """
        ...


class Shards(Protocol):
    """Where shards come from."""

    @property
    def count(self) -> int:
        """How many there are to be at a time."""
        ...

    def open(self, number: int, concurrency: int) -> AbstractAsyncContextManager[Shard]:
        """Starts a shard that runs so many trials at once; it is ended when the context is left.

        Raises:
            ShardLost: it cannot be started.
        """
        ...


class ShardParts(msgspec.Struct, frozen=True):
    """What a shard needs to run trials of a plan; `keeps` and `seconds` are those of the `Plan`."""

    task: Task
    clients: Mapping[str, ModelClient]
    limits: TrialLimits
    keeps: Keeps = keeps_all
    seconds: float | None = None


class Recipe(msgspec.Struct, frozen=True):
    """How a shard makes its parts: a function by its address (`module:function`), what it is called with, sys.path.

    The function gets the shard's share of the concurrency first. Both it and the arguments must be known by name in
    another process. `environment` is added to what is set there.
    """

    make: str
    arguments: tuple[Any, ...]
    path: tuple[str, ...]
    environment: Mapping[str, str] = {}

    def elsewhere(self) -> Recipe:
        """The same for another machine, whose modules lie elsewhere."""
        return msgspec.structs.replace(self, path=())

    def encoded(self) -> bytes:
        """The recipe as it is sent. It holds keys: it is sent to shards and written nowhere."""
        return pickle.dumps(msgspec.structs.astuple(self), pickle.HIGHEST_PROTOCOL)


def made(encoded_recipe: bytes, concurrency: int) -> ShardParts:
    """The parts that a recipe makes; only for recipes of our own parent process.

    Raises:
        UserError: what was there when the run was prepared is not there any more.
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
