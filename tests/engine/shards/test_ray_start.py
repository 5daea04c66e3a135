"""Starting Ray: what is told when it does not start, and that nobody waits for it for ever."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

import pytest
from tests.engine.shards import shard_task

from benchwright.engine.shards import ray_cluster, ray_shards
from benchwright.errors import UserError


class FakeRay:
    """Stands in for the library: each start does what the next of `starts` does."""

    def __init__(self, *starts: Callable[[], None]) -> None:
        self._starts = list(starts)
        self.asked: list[dict[str, object]] = []
        self.ended = threading.Event()

    def init(self, **options: object) -> None:
        self.asked.append(options)
        self._starts.pop(0)()

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 3.0}

    def remote(self, **options: object) -> Callable[[type], object]:
        return lambda actor: actor

    def shutdown(self) -> None:
        self.ended.set()


def works() -> None:
    pass


def fails() -> None:
    raise Exception("The current node timed out during startup.\nThis could happen")


Install = Callable[..., FakeRay]


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Install:
    def install(*starts: Callable[[], None]) -> FakeRay:
        fake = FakeRay(*starts)
        monkeypatch.setitem(sys.modules, "ray", fake)
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        return fake

    return install


async def started(count: int | None = None) -> int:
    async with ray_shards(shard_task.recipe(), count, None) as shards:
        return shards.count


async def test_there_are_as_many_actors_as_cpus_unless_told_otherwise(ray: Install) -> None:
    ray(works)
    assert await started() == 3
    ray(works)
    assert await started(2) == 2


async def test_more_actors_than_cpus_have_room_on_this_machine(ray: Install) -> None:
    fake = ray(works)
    await started(1000)
    assert fake.asked[0]["num_cpus"] == 1000


async def test_rays_own_variable_tells_where_the_cluster_is(
    ray: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = ray(works)
    monkeypatch.setenv("RAY_ADDRESS", "auto")
    await started()
    assert fake.asked[0]["address"] == "auto"


async def test_it_is_ended_with_the_run(ray: Install) -> None:
    fake = ray(works)
    await started()
    assert fake.ended.is_set()


async def test_a_start_that_fails_is_tried_once_more(ray: Install) -> None:
    fake = ray(fails, works)
    assert await started() == 3
    assert len(fake.asked) == 2


async def test_what_does_not_start_is_told_in_one_line_with_what_to_do(ray: Install) -> None:
    ray(fails, fails)
    with pytest.raises(UserError) as told:
        await started()
    assert str(told.value) == (
        "Ray does not start on this machine: The current node timed out during startup. Its own logs are in "
        "/tmp/ray/session_latest/logs. Use --workers instead, or `ray start --head` and --ray-address."
    )


async def test_a_start_that_hangs_is_given_up(ray: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "MAX_START_SECONDS", 0.05)
    released = threading.Event()
    ray(lambda: released.wait(60) and None)
    try:
        with pytest.raises(UserError, match=r"it is not ready after 0\.05 s"):
            await started()
    finally:
        released.set()
