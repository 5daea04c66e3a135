"""A runner inside a program is a guest: it takes nothing of the program's, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.runners.evaluation import EvalRunner


async def test_signals_stay_the_programs_own(make_agent: Any, fake_client: Any, make_rows: Any) -> None:
    async def look(ctx: RolloutContext) -> RolloutResult:
        assert [signal.getsignal(number) for number in numbers] == before
        return ctx.complete([])

    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    result = await EvalRunner(make_agent(look), fake_client(), []).run_eval(make_rows(2))
    assert all(run.success for row in result.rows for run in row.runs)
    assert [signal.getsignal(number) for number in numbers] == before


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


async def test_no_file_is_left(
    make_agent: Any, fake_client: Any, exact: Any, make_rows: Any, temporary: Path
) -> None:
    await EvalRunner(make_agent(), fake_client(), [exact]).run_eval(make_rows(2))
    assert list(temporary.iterdir()) == []


async def test_cancelling_ends_it_at_once_and_closes_its_clients(
    make_agent: Any, fake_client: Any, make_rows: Any, temporary: Path
) -> None:
    async def never(ctx: RolloutContext) -> RolloutResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    started, made = asyncio.Event(), []

    def factory() -> Any:
        made.append(fake_client())
        return made[-1]

    runner = EvalRunner(make_agent(never), fake_client(), [], llm_client_factory=factory)
    running = asyncio.create_task(runner.run_eval(make_rows(9), batch_size=2))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [client.closed for client in made] == [1, 1]
    assert list(temporary.iterdir()) == []


async def test_an_error_in_the_programs_own_code_reaches_it(
    make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
) -> None:
    def on_progress(current: int, total: int, run: Any) -> None:
        raise LookupError("my own mistake")

    with pytest.raises(LookupError, match="my own mistake"):
        await EvalRunner(make_agent(), fake_client(), [exact]).run_eval(make_rows(3), on_progress=on_progress)


async def test_two_evaluations_at_once_do_not_meet(
    make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
) -> None:
    right = EvalRunner(make_agent(), fake_client(), [exact])
    wrong = EvalRunner(make_agent(), fake_client(lambda messages: "?"), [exact])
    results = await asyncio.gather(right.run_eval(make_rows(9)), wrong.run_eval(make_rows(9)))
    assert [result.eval_summaries["exact"].mean for result in results] == [1.0, 0.0]
