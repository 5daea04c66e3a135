"""Work that reads files or computes: in threads, so that the event loop answers meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def off_loop(
    work: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Calls a function in a thread; what it raises is raised here."""
    return await asyncio.to_thread(work, *args, **kwargs)
