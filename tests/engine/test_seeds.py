"""Seeds: each repeat is sent one of its own, whoever asks and whomever, and each request is recorded with its seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.engine.engine_kit import FunctionTask, Solve, journalled, run_plan, samples

from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.relay import Relay
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Score, Scorer, Session
from benchwright.engine.seeds import repeat_seed
from benchwright.records import Outcome, RequestRecord, Sample, Target, Trial

HELLO = [{"role": "user", "content": "Hello"}]


async def asks(trial: Trial, session: Session) -> Outcome:
    return Outcome(answer=(await session.chat(HELLO)).text)


class Judge:
    """A scorer that asks the run's judge."""

    name, fingerprint = "judge", "1"

    async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
        await session.chat(HELLO, role="judge", slot="judge")
        return Score(1.0)


async def requests_of(
    directory: Path, solve: Solve, settings: Mapping[str, Any], scorers: tuple[Scorer, ...] = ()
) -> list[list[RequestRecord]]:
    """The requests of each of three repeats of a sample, those of scorers last; both targets have these settings."""
    async with SimulatedEndpoint(Settings()) as endpoint:
        targets = [Target(slot, "m", endpoint.base_url, dict(settings)) for slot in ("primary", "judge")]
        clients = {target.slot: EndpointClient(target) for target in targets}
        plan = Plan(FunctionTask(samples(1), solve, scorers), 1, targets[:1], repeats=3)
        await run_plan(plan, directory, clients=clients)
        for client in clients.values():
            client.close()
    lines = journalled(directory)
    scored = {score.trial: score.requests for score in lines.scores}
    trials = sorted(lines.trials, key=lambda trial: trial.repeat)
    return [[*trial.requests, *scored.get(trial.key, [])] for trial in trials]


def seeds(requests: list[list[RequestRecord]]) -> list[list[int | None]]:
    return [[request.seed for request in repeat] for repeat in requests]


def test_the_first_repeat_has_the_seed_of_the_run_and_each_other_one_its_own() -> None:
    drawn = [repeat_seed(42, repeat) for repeat in range(1000)]
    assert drawn[0] == 42
    assert len(set(drawn)) == 1000
    assert all(0 <= seed < 2**31 for seed in drawn)


def test_runs_with_neighbouring_seeds_share_no_repeat() -> None:
    assert not {repeat_seed(42, repeat) for repeat in range(100)} & {
        repeat_seed(43, repeat) for repeat in range(100)
    }


async def test_the_model_and_the_judge_are_sent_a_repeats_seed(tmp_path: Path) -> None:
    found = seeds(await requests_of(tmp_path, asks, {"seed": 42}, (Judge(),)))
    assert found == [[42, 42], [repeat_seed(42, 1)] * 2, [repeat_seed(42, 2)] * 2]


async def test_an_agent_behind_the_relay_is_given_a_repeats_seed(tmp_path: Path) -> None:
    async with Relay() as relay:
        found = seeds(await requests_of(tmp_path, behind(relay, {}), {"seed": 42}))
    assert found == [[42], [repeat_seed(42, 1)], [repeat_seed(42, 2)]]


async def test_a_seed_that_a_solver_sets_itself_is_the_one_sent(tmp_path: Path) -> None:
    async def asks_with_its_own(trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=(await session.chat(HELLO, seed=5)).text)

    assert seeds(await requests_of(tmp_path, asks_with_its_own, {"seed": 42})) == [[5], [5], [5]]


async def test_the_users_seed_replaces_that_of_an_agent(tmp_path: Path) -> None:
    async with Relay() as relay:
        found = seeds(await requests_of(tmp_path, behind(relay, {"seed": 5}), {"seed": 42}))
    assert found == [[42], [repeat_seed(42, 1)], [repeat_seed(42, 2)]]


async def test_an_agents_seed_is_sent_if_the_user_gave_none(tmp_path: Path) -> None:
    async with Relay() as relay:
        assert seeds(await requests_of(tmp_path, behind(relay, {"seed": 5}), {})) == [[5], [5], [5]]


async def test_where_no_seed_is_given_none_is_sent(tmp_path: Path) -> None:
    assert seeds(await requests_of(tmp_path, asks, {})) == [[None], [None], [None]]


def behind(relay: Relay, fields: dict[str, Any]) -> Solve:
    """A solver that lets a program of its own ask through the relay, with these fields in the body."""

    async def solve(trial: Trial, session: Session) -> Outcome:
        async with session.relay(relay) as calls:
            target = Target("program", calls.model, calls.base_url, fields)
            async with EndpointClient(target, access=Access(calls.token)) as program:
                reply = await program.ask("/chat/completions", {"messages": HELLO})
        return Outcome(answer=reply.text)

    return solve
