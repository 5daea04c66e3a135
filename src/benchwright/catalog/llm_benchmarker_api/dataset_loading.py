"""Loads datasets by calling `load_dataset` of users' benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.errors import UserError
from benchwright.text import error_line

if TYPE_CHECKING:
    from benchwright.catalog.llm_benchmarker_api.base import BaseBenchmark


def load_dataset(benchmark: BaseBenchmark, data_dir: Path, max_samples: int | None) -> Any:
    """Return the result of `load_dataset`, which runs in a new event loop in a separate thread.

    Raises:
        UserError: If `load_dataset` fails. The message states how.
    """
    import asyncio
    from threading import Thread

    returned: list[Any] = []
    failed: list[BaseException] = []

    def load() -> None:
        try:
            returned.append(asyncio.run(_load(benchmark, data_dir, max_samples)))
        except BaseException as error:  # is re-raised in the caller's thread
            failed.append(error)

    thread = Thread(target=load, name="load_dataset", daemon=True)
    thread.start()
    thread.join()
    if failed:
        raise load_failure(benchmark.name, failed[0]) from failed[0]
    return returned[0]


async def _load(benchmark: BaseBenchmark, data_dir: Path, max_samples: int | None) -> Any:
    return await benchmark.load_dataset(data_dir, max_samples)


def load_failure(name: str, failure: BaseException) -> UserError:
    """Convert an exception of `load_dataset` to a one-line error."""
    if isinstance(failure, UserError):
        return failure
    return UserError(f"load_dataset of {name} failed: {error_line(failure)}.")
