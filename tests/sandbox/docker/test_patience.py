"""Limits of time are longer on a busy machine for who asks for that, and for nobody else."""

from __future__ import annotations

import asyncio
import os

import pytest

from benchwright.sandbox.docker.time_limits import MAX_LIMIT_FACTOR, extend_limits_if_busy, time_limit_factor

CORES = os.cpu_count() or 1


@pytest.mark.parametrize(
    ("load", "factor"),
    [(0.0, 1.0), (0.5, 1.0), (3.0, 3.0), (1000.0, MAX_LIMIT_FACTOR)],
    ids=["idle", "free", "busy", "stuck"],
)
def test_limits_are_longer_by_the_load_per_core(
    load: float, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (load * CORES, 0.0, 0.0))
    with extend_limits_if_busy():
        assert time_limit_factor() == pytest.approx(factor)
    assert time_limit_factor() == 1.0


async def test_other_tasks_keep_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getloadavg", lambda: (3.0 * CORES, 0.0, 0.0))
    entered, looked = asyncio.Event(), asyncio.Event()

    async def patient() -> float:
        with extend_limits_if_busy():
            entered.set()
            await looked.wait()
            return await asyncio.create_task(in_a_task_of_its_own())

    async def in_a_task_of_its_own() -> float:
        return time_limit_factor()

    async def other() -> float:
        await entered.wait()
        looked.set()
        return time_limit_factor()

    factors = await asyncio.gather(patient(), other())
    assert list(factors) == pytest.approx([3.0, 1.0])
