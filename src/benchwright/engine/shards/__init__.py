"""Runs with several processes (shards): trials are distributed to them, and their results return to the single
journal.

    parent  ShardedExecutor(shards, concurrency)      one driver per shard, which replaces a lost shard
    shard   serve(parts, concurrency, receive, send)  the same worker code as in a run with one process

A `Shards` object carries the messages: over pipes to processes of this machine, or to actors of a cluster.
"""

from benchwright.engine.shards.executor import ShardedExecutor
from benchwright.engine.shards.messages import Shard, ShardLost, ShardParts, Shards, WorkerSpec
from benchwright.engine.shards.process_shards import ProcessShards
from benchwright.engine.shards.ray_actors import ray_shards

__all__ = [
    "ProcessShards",
    "Shard",
    "ShardLost",
    "ShardParts",
    "ShardedExecutor",
    "Shards",
    "WorkerSpec",
    "ray_shards",
]
