"""Turns of one trial that wait for each other: in order where they must, side by side where they may."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from benchwright.engine.executor import task_group
from benchwright.errors import ProviderError


async def in_turn(after: Sequence[int | None], do: Callable[[int], Awaitable[bool]]) -> None:
    """Does each turn when the one with the number `after` has ended, those that come after the same one side by side.

    What follows a turn of which `do` says false, or that a provider fails, is left out.

    A single turn is done at once, without a task of its own.

    Raises:
        ProviderError: the first of those that failed, after all that could be done is done.
    """
    if len(after) == 1:
        await do(0)
        return
    following: dict[int | None, list[int]] = defaultdict(list)
    for number, before in enumerate(after):
        following[before].append(number)
    failures: list[ProviderError] = []

    async def flow(number: int) -> None:
        while True:
            try:
                if not await do(number):
                    return
            except ProviderError as failure:
                failures.append(failure)
                return
            then = following.get(number, [])
            for other in then[1:]:
                group.create_task(flow(other))
            if not then:
                return
            number = then[0]

    async with task_group() as group:
        for first in following[None]:
            group.create_task(flow(first))
    if failures:
        raise failures[0]
