"""Shards that are actors of Ray: on this machine where no address is given, else wherever the cluster has room.

What is sent to an actor goes from memory to memory; nothing of it, the keys in a recipe included, is put into Ray's
object store or its tables.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchwright.engine.shards.messages import Failed, Recipe, Shard, ShardLost, encode, made
from benchwright.engine.shards.serving import serve
from benchwright.errors import UserError

REACH_SECONDS = 10.0
ROOM_SECONDS = 60.0
"""How long an actor may wait for a free place in the cluster."""


@asynccontextmanager
async def ray_shards(recipe: Recipe, count: int | None, address: str | None) -> AsyncIterator[RayShards]:
    """Connects to the cluster at an address, or starts Ray on this machine; `count` actors, one per CPU by default.

    To a cluster the working directory travels, so that modules and files in it are found there by their relative
    paths; Benchwright itself must be installed on its nodes.

    Raises:
        UserError: Ray is not installed, or no cluster answers at the address.
    """
    try:
        import ray
    except ImportError:
        raise UserError("--executor ray needs Ray: pip install 'benchwright[ray]'.") from None
    if address is not None:
        await _reach(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    await asyncio.to_thread(_connect, ray, address)
    try:
        cpus = int(ray.cluster_resources().get("CPU", 1))
        yield RayShards(ray, recipe if address is None else recipe.elsewhere(), count or max(1, cpus))
    finally:
        await asyncio.to_thread(ray.shutdown)


async def _reach(address: str) -> None:
    """Sees whether anybody listens at HOST:PORT, which Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        async with asyncio.timeout(REACH_SECONDS):
            _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    except (OSError, TimeoutError) as error:
        reason = str(error) or f"no answer within {REACH_SECONDS:g} s"
        raise UserError(f"Ray cannot be used at {address}: {reason}") from None
    writer.close()


def _connect(ray: Any, address: str | None) -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    try:
        if address is None:
            ray.init(include_dashboard=False, **quiet)
        else:
            ray.init(address=address, runtime_env={"working_dir": str(Path.cwd())}, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        first_line = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"Ray cannot be used at {address or 'this machine'}: {first_line}") from None


class RayShards:
    """`count` actors, each of one CPU."""

    def __init__(self, ray: Any, recipe: Recipe, count: int) -> None:
        self.count = count
        self._ray = ray
        self._recipe = recipe.encoded()
        self._actors = ray.remote(num_cpus=1, max_restarts=0)(Actor)

    @asynccontextmanager
    async def open(self, number: int, concurrency: int) -> AsyncIterator[Shard]:
        """Starts an actor where there is room; see `Shards.open`."""
        actor = self._actors.options(max_concurrency=8).remote()
        try:
            await self._begun(actor, concurrency)
            yield _RayShard(self._ray, actor)
        finally:
            self._ray.kill(actor)

    async def _begun(self, actor: Any, concurrency: int) -> None:
        try:
            async with asyncio.timeout(ROOM_SECONDS):
                await actor.begin.remote(self._recipe, concurrency)
        except TimeoutError:
            raise ShardLost("the cluster has no free CPU for it", for_good=True) from None
        except self._ray.exceptions.RayError as error:
            raise _lost(error) from None


class _RayShard:
    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    async def send(self, message: bytes) -> None:
        await self._ask(self._actor.order, message)

    async def receive(self) -> bytes:
        reports: bytes = await self._ask(self._actor.reports)
        return reports

    async def _ask(self, method: Any, *arguments: bytes) -> Any:
        try:
            return await method.remote(*arguments)
        except self._ray.exceptions.RayError as error:
            raise _lost(error) from None


def _lost(error: Exception) -> ShardLost:
    first_line = (str(error).strip().splitlines() or [""])[0]
    return ShardLost(f"{type(error).__name__}: {first_line}")


class Actor:
    """The shard inside the cluster: `serve` between two queues."""

    def __init__(self) -> None:
        self._orders: asyncio.Queue[bytes] = asyncio.Queue()
        self._reports: asyncio.Queue[bytes] = asyncio.Queue()
        self._serving: asyncio.Task[None] | None = None

    async def begin(self, recipe: bytes, concurrency: int) -> None:
        """Makes the parts and starts to serve; what went wrong is the first report."""
        try:
            parts = made(recipe, concurrency)
        except UserError as error:
            await self._reports.put(encode([Failed(str(error))]))
            return
        self._serving = asyncio.ensure_future(serve(parts, concurrency, self._orders.get, self._reports.put))

    async def order(self, message: bytes) -> None:
        """Takes an order."""
        await self._orders.put(message)

    async def reports(self) -> bytes:
        """The next reports, when there are some."""
        return await self._reports.get()
