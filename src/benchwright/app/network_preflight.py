"""Warns before the first request if a benchmark's tests need a network that is not available."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from benchwright.catalog.benchmark import Benchmark
from benchwright.catalog.containers.benchmark import ContainerBenchmark
from benchwright.catalog.containers.network_needs import NetworkNeeds
from benchwright.errors import UserError
from benchwright.formats import count_with_noun
from benchwright.records import Sample
from benchwright.sandbox.egress.addresses import Connector, connect
from benchwright.sandbox.egress.hosts import HTTPS
from benchwright.text import Say

CONNECT_TIMEOUT = 5.0
MAX_HOSTS_TRIED = 4
"""Maximum number of hosts to try to reach. One host that answers is enough."""
MAX_PROGRAMS_NAMED = 4
"""Maximum number of programs named in a message."""


async def warn_without_network(
    benchmark: Benchmark, samples: Iterable[Sample], say: Say, reach: Connector = connect
) -> None:
    """Warn how many of these samples cannot be graded, because their tests need a network that is not available.

    Raises:
        UserError: If no sample can be graded, because of an option or because no host is reachable.
    """
    if not isinstance(benchmark, ContainerBenchmark) or benchmark.network_needs is None:
        return
    needs = [benchmark.network_needs(sample) for sample in samples]
    fetching = [one for one in needs if one.programs]
    by_option = [one for one in fetching if one.closed_by == "option"]
    if by_option:
        _tell(by_option, len(needs), "--option network=none leaves them no network", "leave it out", say)
    by_task = [one for one in fetching if one.closed_by == "task"]
    if by_task:
        say(
            f"{_tests(by_task, len(needs))}, and the tasks allow no network: they can only pass if the images bring "
            "what is fetched, which `benchwright validate` shows."
        )
    online = [one for one in fetching if not one.closed_by]
    hosts = list(dict.fromkeys(host for one in online for host in one.hosts))[:MAX_HOSTS_TRIED]
    if hosts and not await _any_answers(hosts, reach):
        why = f"none of {', '.join(hosts)} can be reached from this machine"
        _tell(online, len(needs), why, "run it where there is a network", say)


def _tell(needs: Sequence[NetworkNeeds], of: int, why: str, what_to_do: str, say: Say) -> None:
    """Warn that some samples cannot be graded, and say why.

    Raises:
        UserError: If no sample can be graded.
    """
    said = f"{_tests(needs, of)}, and {why}: they cannot be graded; {what_to_do}."
    if len(needs) == of:
        raise UserError(said)
    say(said)


def _tests(needs: Sequence[NetworkNeeds], of: int) -> str:
    programs = list(dict.fromkeys(program for one in needs for program in one.programs))
    named = ", ".join(programs[:MAX_PROGRAMS_NAMED])
    whose = (
        f"all {of:,} tasks"
        if len(needs) == of and of > 1
        else f"{len(needs):,} of {count_with_noun(of, 'task')}"
    )
    return f"The tests of {whose} fetch by {named}"


async def _any_answers(hosts: Sequence[str], reach: Connector) -> bool:
    async def answers(host: str) -> bool:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                _, writer = await reach(host, HTTPS)
        except (OSError, TimeoutError):
            return False
        writer.close()
        return True

    return any(await asyncio.gather(*map(answers, hosts)))
