"""Runs functions that read files or compute in threads, so that the event loop is not blocked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def run_in_thread(
    work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Call a function in a thread. Return its result, or raise its exception."""
    return await asyncio.to_thread(work, *args, **kwargs)
