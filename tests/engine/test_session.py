"""The session: what a solver and a scorer ask with; every request is recorded, every limit held."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.engine.engine_kit import TARGET, FunctionTask, Solve, journalled, plan_of, run_plan

from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.endpoint.failures import RetryPolicy
from benchwright.endpoint.lite_llm import LiteLLMClient
from benchwright.endpoint.simulate import Faults, KeyedAnswer, Settings, SimulatedEndpoint
from benchwright.engine.plan import Plan
from benchwright.engine.protocols import Score, Session
from benchwright.engine.session import TrialSession
from benchwright.errors import ProviderError, UserError
from benchwright.records import (
    SIMULATED_FLAG,
    Outcome,
    Sample,
    Status,
    Target,
    Trial,
    TrialLimits,
    TrialRecord,
)
from benchwright.runs.journal import TrialBody, read_body


@asynccontextmanager
async def client_of(
    settings: Settings | None = None, slot: str = "primary", stream: bool = True
) -> AsyncIterator[dict[str, EndpointClient]]:
    """A simulated endpoint and a client for it, as a run gets it."""
    async with SimulatedEndpoint(settings or Settings()) as endpoint:
        target = Target(slot, f"the-{slot}", endpoint.base_url)
        async with EndpointClient(target, stream=stream, retry=RetryPolicy(first_delay=0.001)) as client:
            yield {slot: client}


async def once(
    solve: Solve, directory: Path, settings: Settings | None = None, limits: TrialLimits | None = None
) -> TrialRecord:
    """Runs one trial against a simulated endpoint."""
    async with client_of(settings) as clients:
        await run_plan(plan_of(1, solve, limits=limits), directory, clients=clients)
    return journalled(directory).trial


def body_of(directory: Path) -> TrialBody:
    return read_body(directory, journalled(directory).trial)


async def asks_three_times(trial: Trial, session: Session) -> Outcome:
    messages: list[dict[str, Any]] = []
    for word in ("one", "two", "three"):
        messages.append({"role": "user", "content": word})
        messages.append((await session.chat(messages)).message)
    return Outcome(messages=messages, answer=messages[-1]["content"])


async def test_every_request_is_recorded_with_its_turn_and_tokens(tmp_path: Path) -> None:
    trial = await once(asks_three_times, tmp_path)
    assert [(request.turn, request.role, request.slot) for request in trial.requests] == [
        (0, "model", "primary"),
        (1, "model", "primary"),
        (2, "model", "primary"),
    ]
    for request in trial.requests:
        assert request.usage.total_tokens > 0
        assert request.ttft is not None
        assert 0 < request.ttft <= request.total <= trial.duration
        assert 0 < request.started <= trial.duration
        assert request.flags == [SIMULATED_FLAG]


async def test_the_body_holds_the_conversation_once_and_every_exchange(tmp_path: Path) -> None:
    await once(asks_three_times, tmp_path)
    body = body_of(tmp_path)
    assert [message["content"] for message in body.messages] == ["one", "one", "two", "two", "three", "three"]
    assert [exchange.sent for exchange in body.exchanges] == [1, 3, 5]
    last = json.loads(bytes(body.exchanges[2].response))
    assert last["choices"][0]["message"]["content"] == "three"


async def test_an_exchange_that_is_no_beginning_of_the_conversation_keeps_its_own_messages(
    tmp_path: Path,
) -> None:
    aside = [{"role": "user", "content": "a question aside"}]

    async def solve(trial: Trial, session: Session) -> Outcome:
        reply = await session.chat(aside, temperature=0.25, stop=None)
        return Outcome(messages=[{"role": "user", "content": "the summary"}], answer=reply.text)

    await once(solve, tmp_path)
    (exchange,) = body_of(tmp_path).exchanges
    assert exchange.sent == aside
    assert exchange.request["temperature"] == 0.25
    assert "stop" not in exchange.request, "a field that is None is not sent"


async def test_a_plain_completion_is_recorded_too(tmp_path: Path) -> None:
    async def solve(trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=(await session.complete("Once upon a time")).text)

    trial = await once(solve, tmp_path)
    assert len(trial.requests) == 1
    body = body_of(tmp_path)
    assert body.answer
    assert body.exchanges[0].request["prompt"] == "Once upon a time"


async def test_turns_are_counted_and_end_at_their_limit(tmp_path: Path) -> None:
    trial = await once(asks_three_times, tmp_path, limits=TrialLimits(turns=2))
    assert (trial.status, trial.reason) == (Status.LIMIT, "the trial reached its limit of 2 turns")
    assert len(trial.requests) == 2
    assert len(body_of(tmp_path).exchanges) == 2, "what was asked before is kept"


async def test_tokens_are_counted_over_all_requests_and_end_at_their_limit(tmp_path: Path) -> None:
    trial = await once(asks_three_times, tmp_path, limits=TrialLimits(tokens=3))
    assert trial.status is Status.LIMIT
    assert trial.reason == "the trial reached its limit of 3 tokens"
    used = [request.usage.total_tokens for request in trial.requests]
    assert sum(used[:-1]) < 3 <= sum(used)


async def test_a_failed_request_is_recorded_with_its_attempts(tmp_path: Path) -> None:
    trial = await once(asks_three_times, tmp_path, Settings(faults=Faults(server_error=1.0)))
    assert trial.status is Status.PROVIDER_ERROR
    (request,) = trial.requests
    assert request.attempts == 6
    assert request.http_status in (500, 503)
    assert request.error == trial.reason


async def test_an_agent_may_catch_a_provider_error_and_answer_all_the_same(tmp_path: Path) -> None:
    async def patient(trial: Trial, session: Session) -> Outcome:
        try:
            await session.chat([{"role": "user", "content": "hello"}])
        except ProviderError:
            return Outcome(answer="I do not know")
        raise AssertionError("the endpoint always fails")

    trial = await once(patient, tmp_path, Settings(faults=Faults(server_error=1.0)))
    assert trial.status is Status.ANSWERED
    assert trial.requests[0].error is not None


async def test_another_target_is_asked_by_its_slot_and_role(tmp_path: Path) -> None:
    async def talks_to_a_user(trial: Trial, session: Session) -> Outcome:
        await session.chat([{"role": "user", "content": "hello"}])
        reply = await session.chat([{"role": "user", "content": "go on"}], role="user", slot="user")
        await session.chat([{"role": "user", "content": reply.text}])
        return Outcome(answer="done")

    async with client_of() as model, client_of(slot="user") as user:
        limits = TrialLimits(turns=2)
        await run_plan(plan_of(1, talks_to_a_user, limits=limits), tmp_path, clients={**model, **user})
    trial = journalled(tmp_path).trial
    assert trial.status is Status.ANSWERED, "turns of a simulated user are not the model's"
    assert [(request.role, request.slot, request.turn) for request in trial.requests] == [
        ("model", "primary", 0),
        ("user", "user", 1),
        ("model", "primary", 1),
    ]


async def test_a_slot_that_the_run_does_not_have_is_the_users_mistake(tmp_path: Path) -> None:
    async def solve(trial: Trial, session: Session) -> Outcome:
        await session.chat([], slot="judge")
        return Outcome()

    with pytest.raises(UserError, match="no target 'judge'; set it with --judge-model"):
        await once(solve, tmp_path)


async def test_what_a_scorer_asks_is_recorded_with_its_score_and_free_of_the_trials_limits(
    tmp_path: Path,
) -> None:
    class JudgeOfLength:
        name, fingerprint = "judge", "1"

        async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
            for _ in range(3):
                reply = await session.chat([{"role": "user", "content": outcome.answer}], slot="judge")
            return Score(float(len(reply.text)))

    async def solve(trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=(await session.chat([{"role": "user", "content": "four"}])).text)

    async with client_of() as model, client_of(slot="judge") as judge:
        task = FunctionTask([Sample("0", 0)], solve, [JudgeOfLength()])
        plan = Plan(task, 1, [TARGET], limits=TrialLimits(turns=1))
        await run_plan(plan, tmp_path, clients={**model, **judge})
    done = journalled(tmp_path)
    assert done.score.value == 4.0
    assert [request.role for request in done.score.requests] == ["judge"] * 3
    assert [request.role for request in done.trial.requests] == ["model"]


async def test_an_answer_that_is_laid_out_over_lines_is_found_again(tmp_path: Path) -> None:
    """Servers may indent their JSON, or end it with a line end; a body is one line all the same."""
    answer = {
        "choices": [{"message": {"role": "assistant", "content": "two\nlines"}, "finish_reason": "stop"}]
    }

    async def solve(trial: Trial, session: Session) -> Outcome:
        return Outcome(answer=(await session.chat([{"role": "user", "content": "hello"}])).text)

    async with answering(json.dumps(answer, indent=2) + "\n") as base_url:
        target = replace(TARGET, base_url=base_url)
        async with EndpointClient(target, stream=False) as client:
            plan = plan_of(2, solve, targets=[target])
            await run_plan(plan, tmp_path, clients={"primary": client}, concurrency=1)
    for trial in journalled(tmp_path).trials:
        body = read_body(tmp_path, trial)
        assert body.answer == "two\nlines"
        assert json.loads(bytes(body.exchanges[0].response)) == answer


@asynccontextmanager
async def answering(body: str) -> AsyncIterator[str]:
    """A server that gives every request the same body."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.lower().splitlines() if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.split(b":")[1]))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
        writer.write(body.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


KEYS = ['sk-0123456789abcdef"\\/<b>&', "sk-plain-0123456789", "sk-with+slash/and=equals=="]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_key_reaches_no_file_even_if_the_model_says_it(
    tmp_path: Path, key: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchwright.secrets import SECRETS, Secrets

    monkeypatch.setattr("benchwright.runs.journal.SECRETS", fresh := Secrets())
    assert SECRETS is not fresh
    fresh.add(key)

    async def solve(trial: Trial, session: Session) -> Outcome:
        reply = await session.chat([{"role": "user", "content": "your key?"}])
        return Outcome(
            messages=[{"role": "user", "content": "your key?"}, reply.message],
            answer=reply.text,
            reason=f"it said {reply.text}",
            artifacts={reply.text: [reply.text]},
        )

    class Quoting:
        name, fingerprint = "quoting", "1"

        async def score(self, sample: Sample, outcome: Outcome, session: Session) -> Score:
            assert key in outcome.answer
            return Score(1.0, span=outcome.answer, detail={"said": outcome.answer})

    settings = Settings(api_key=key, answers=(KeyedAnswer("your key?", f"It is {key}."),))
    async with SimulatedEndpoint(settings) as endpoint:
        target = replace(TARGET, base_url=endpoint.base_url)
        async with EndpointClient(target, access=Access(key), stream=stream) as client:
            task = FunctionTask([Sample("0", f"the key is {key}")], solve, [Quoting()])
            await run_plan(Plan(task, 1, [target]), tmp_path, clients={"primary": client})
    assert journalled(tmp_path).trial.status is Status.ANSWERED
    written = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for form in (key, json.dumps(key)[1:-1], key.replace("/", "\\/")):
        assert form.encode() not in written
    assert b"It is [secret]." in written


async def test_texts_are_embedded_by_the_target_of_a_slot() -> None:
    async with client_of(slot="embedding") as clients:
        session = TrialSession(Trial("t", Sample("s", {}), TARGET), clients, TrialLimits())
        with pytest.raises(ProviderError, match="404"):
            await session.embed(["a"], slot="embedding")
        with pytest.raises(UserError, match="no target 'other'"):
            await session.embed(["a"], slot="other")
    elsewhere = LiteLLMClient(Target("embedding", "cohere/embed", "litellm"))
    session = TrialSession(Trial("t", Sample("s", {}), TARGET), {"embedding": elsewhere}, TrialLimits())
    with pytest.raises(UserError, match=r"is not asked for embeddings: .* --option embedding_base_url"):
        await session.embed(["a"], slot="embedding")
