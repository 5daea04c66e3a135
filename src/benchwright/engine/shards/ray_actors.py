"""Shards that are Ray actors.

Without an address they run on this machine; with an address, wherever the cluster has room. Nothing that is
sent to an actor is written to Ray's tables. Small messages, including the API keys in a `WorkerSpec`, go from
memory to memory. A message of more than 100 kB passes through the object store of the sending machine.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from benchwright.engine.shards.messages import (
    Shard,
    ShardFailed,
    ShardLost,
    ShardParts,
    WorkerSpec,
    encode_message,
    make_shard_parts,
)
from benchwright.engine.shards.ray_cluster import connect_ray, first_error_line
from benchwright.engine.shards.shard_loop import serve_shard
from benchwright.errors import UserError

MAX_PLACEMENT_SECONDS = 60.0
"""Maximum number of seconds that an actor may wait until the cluster has room for it."""


@asynccontextmanager
async def ray_shards(recipe: WorkerSpec, count: int | None, address: str | None) -> AsyncIterator[RayShards]:
    """Connect to the Ray cluster at an address. Without an address, start Ray on this machine.

    `count`: number of actors; by default one per CPU. If no address is given but Ray's own variable RAY_ADDRESS
    is set, that address is used. The working directory is copied to a cluster, so that modules and files in it
    are found there by their relative paths. Benchwright itself must be installed on the cluster's nodes.

    Raises:
        UserError: If Ray is not installed or does not start, or no cluster answers at the address.
    """
    address = address or os.environ.get("RAY_ADDRESS")
    async with connect_ray(count, address) as ray:
        cpus = int(ray.cluster_resources().get("CPU", 1))
        yield RayShards(ray, recipe if address is None else recipe.for_other_machine(), count or max(1, cpus))


class RayShards:
    """`count` shards, each a Ray actor with one CPU."""

    def __init__(self, ray: Any, recipe: WorkerSpec, count: int) -> None:
        self.count = count
        self._ray = ray
        self._recipe = recipe.encode()
        self._actors = ray.remote(num_cpus=1, max_restarts=0)(ShardActor)

    @asynccontextmanager
    async def open(self, number: int, concurrency: int) -> AsyncIterator[Shard]:
        """Start an actor on a node with a free CPU; see `Shards.open`."""
        actor = self._actors.options(max_concurrency=8, scheduling_strategy="SPREAD").remote()
        try:
            await self._begun(actor, concurrency)
            yield _RayShard(self._ray, actor)
        finally:
            self._ray.kill(actor)

    async def _begun(self, actor: Any, concurrency: int) -> None:
        try:
            async with asyncio.timeout(MAX_PLACEMENT_SECONDS):
                await actor.start.remote(self._recipe, concurrency)
        except TimeoutError:
            raise ShardLost("the cluster has no free CPU for it", for_good=True) from None
        except self._ray.exceptions.RayError as error:
            raise _lost(error) from None


class _RayShard:
    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    async def send(self, message: bytes) -> None:
        await self._ask(self._actor.send_order, message)

    async def receive(self) -> bytes:
        reports: bytes = await self._ask(self._actor.receive_reports)
        return reports

    async def _ask(self, method: Any, *arguments: bytes) -> Any:
        try:
            return await method.remote(*arguments)
        except self._ray.exceptions.RayError as error:
            raise _lost(error) from None


def _lost(error: Exception) -> ShardLost:
    """Return a `ShardLost` error in place of an error of an actor.

    An error raised inside the actor is reported without Ray's traceback.
    """
    cause = getattr(error, "cause", None)
    if isinstance(cause, Exception):
        return ShardLost(f"{type(cause).__name__}: {first_error_line(cause)}")
    if "in its creation task" in first_error_line(error):  # a module is missing there; the last line names it
        return ShardLost(f"the actor cannot be made: {str(error).strip().splitlines()[-1]}")
    return ShardLost(f"{type(error).__name__}: {first_error_line(error)}")


class ShardActor:
    """The actor that is a shard inside the cluster. It runs `serve_shard` with two "
    "queues, for orders and for reports."""

    def __init__(self) -> None:
        self._orders: asyncio.Queue[bytes] = asyncio.Queue()
        # One place: while it is taken, further reports accumulate and are sent as one message.
        self._reports: asyncio.Queue[bytes | Exception] = asyncio.Queue(1)
        self._serving: asyncio.Task[None] | None = None

    async def start(self, recipe: bytes, concurrency: int) -> None:
        """Make the shard's parts and start to serve. If this fails, the error is sent as the first report."""
        try:
            parts = make_shard_parts(recipe, concurrency)
        except UserError as error:
            await self._reports.put(encode_message([ShardFailed(str(error))]))
            return
        self._serving = asyncio.ensure_future(self._serve(parts, concurrency))

    async def send_order(self, message: bytes) -> None:
        """Queue an encoded order of the coordinating process for the shard."""
        await self._orders.put(message)

    async def receive_reports(self) -> bytes:
        """Wait for the next reports and return them.

        Raises:
            Exception: If the shard broke down.
        """
        reports = await self._reports.get()
        if isinstance(reports, Exception):
            raise reports
        return reports

    async def _serve(self, parts: ShardParts, concurrency: int) -> None:
        try:
            await serve_shard(parts, concurrency, self._orders.get, self._reports.put)
        except Exception as error:  # raised in the driver, which would wait forever otherwise
            await self._reports.put(error)
