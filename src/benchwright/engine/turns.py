"""Runs the turns of one trial: one after the other if they depend on each other, otherwise concurrently."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence

from benchwright.engine.executor import task_group
from benchwright.errors import ProviderError


async def run_turns(after: Sequence[int | None], do: Callable[[int], Awaitable[bool]]) -> None:
    """Run the turns of a trial by calling `do` with the number of each turn.

    `after` has for each turn the number of the turn that must end before it, or None. Turns that follow the
    same turn run concurrently. If `do` returns False for a turn, or raises a provider error, the turns that
    follow this turn are left out. A single turn runs without a task of its own.

    Raises:
        ProviderError: If a provider failed. The first such error is raised, after all other possible turns have
            ended.
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
