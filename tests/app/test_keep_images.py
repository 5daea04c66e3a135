"""`--keep-images`: which images of a run stay, in which order its tasks are tried, and what is said of the disk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.app.app_kit import Program, finished, one_line_of
from tests.app.keep_images_kit import Crates, listed
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.registry import Registry, registry
from tests.sandbox.docker.stand_ins import docker

from benchwright.app.run_images import RunImages
from benchwright.catalog.benchmark import Options
from benchwright.catalog.containers import ContainerBenchmark
from benchwright.catalog.containers.images import TaskImages
from benchwright.catalog.terminal_bench.about import TERMINAL_BENCH
from benchwright.catalog.terminal_bench.benchmark import make
from benchwright.records import Sample

pytestmark = pytest.mark.slow

__all__ = ["running_engine"]

BY_FAMILY = ["a0", "a1", "a2", "b0", "b1", "b2"]
AS_IN_THE_DATA = ["a0", "b0", "a1", "b1", "a2", "b2"]


@pytest.fixture
def hub(running_engine: None) -> Iterator[Registry]:
    with registry() as found:
        yield found


@pytest.fixture
def crates(program: Program, hub: Registry) -> Crates:
    return Crates(program, hub)


class TestWhatStays:
    def test_all_by_default_and_tasks_come_as_in_the_data(self, crates: Crates) -> None:
        ended = crates.run()
        assert ended.returncode == 0, ended.stderr
        assert crates.here() == set(BY_FAMILY)
        assert [task for task, _ in crates.seen] == AS_IN_THE_DATA

    def test_none_and_two_are_here_at_once_at_most(self, crates: Crates) -> None:
        ended = crates.run("--keep-images", "none")
        assert ended.returncode == 0, ended.stderr
        assert crates.here() == set()
        seen = list(crates.seen)
        assert [task for task, _ in seen] == BY_FAMILY
        assert max(count for _, count in seen) == 2, "the one before stays while its family goes on"

    def test_what_a_family_shares_is_pulled_once(self, crates: Crates) -> None:
        crates.run("--keep-images", "none")
        assert crates.registry.pulled == BY_FAMILY
        assert crates.registry.layers_sent == 2

    def test_base_leaves_one_of_each_family(self, crates: Crates) -> None:
        crates.run("--keep-images", "base")
        assert sorted(task[0] for task in crates.here()) == ["a", "b"]

    def test_one_that_was_here_before_stays(self, crates: Crates) -> None:
        docker("pull", crates.images["a1"])
        crates.run("--keep-images", "none")
        assert crates.here() == {"a1"}

    def test_repeats_of_a_task_use_its_image_one_after_another(self, crates: Crates) -> None:
        crates.run("--keep-images", "none", "--n", "2")
        assert crates.registry.pulled == BY_FAMILY
        assert [task for task, _ in crates.seen] == [task for task in BY_FAMILY for _ in range(2)]

    def test_several_at_once_leave_nothing_either(self, crates: Crates) -> None:
        ended = crates.run("--keep-images", "none", "--concurrency", "4")
        assert ended.returncode == 0, ended.stderr
        assert crates.here() == set()
        assert len(list(crates.seen)) == len(BY_FAMILY)

    def test_the_order_of_images_is_no_other_run(self, crates: Crates, program: Program) -> None:
        program.write("fail-a1", "")
        crates.run()
        (program.directory / "fail-a1").unlink()
        ended = crates.run("--keep-images", "none", "--retry-failed")
        assert ended.returncode == 0, ended.stderr
        assert len(finished(program.only_run)) == len(BY_FAMILY)
        assert [task for task, _ in crates.seen] == ["a0", "b0", "b1", "a2", "b2", "a1"]


class TestWhatCannotBe:
    @pytest.mark.parametrize("options", [("--workers", "2"), ("--until", "decided")], ids=" ".join)
    def test_an_order_that_something_else_decides(self, crates: Crates, options: tuple[str, ...]) -> None:
        more = ("--model", "n") if "--until" in options else ()
        ended = crates.run("--keep-images", "none", *options, *more)
        assert ended.returncode == 1
        assert "does not go with" in one_line_of(ended.stderr)


class TestTheDisk:
    HUGE = 1e6

    def test_if_it_is_too_small_images_go_and_that_is_said(self, program: Program, hub: Registry) -> None:
        crates = Crates(program, hub, each=1, image_gib=self.HUGE)
        ended = crates.run()
        assert "2 images of crates that are not here yet take about 2000010 GiB" in ended.stderr
        assert "each is removed after its last trial (--keep-images none)." in ended.stderr
        assert crates.here() == set()

    def test_who_wants_to_keep_all_is_told_what_to_do(self, program: Program, hub: Registry) -> None:
        crates = Crates(program, hub, each=1, image_gib=self.HUGE)
        ended = crates.run("--keep-images", "all")
        assert "use --keep-images none or --limit, or make room (`docker system df`)." in ended.stderr
        assert crates.here() == {"a0", "b0"}

    def test_what_is_here_already_needs_no_room(self, program: Program, hub: Registry) -> None:
        crates = Crates(program, hub, each=1, image_gib=self.HUGE)
        for image in crates.images.values():
            docker("pull", image)
        assert "GiB" not in crates.run().stderr

    def test_if_it_is_large_enough_nothing_is_said(self, program: Program, hub: Registry) -> None:
        assert "GiB" not in Crates(program, hub, each=1, image_gib=1e-6).run().stderr

    def test_a_finished_run_that_is_told_again_needs_no_room(self, program: Program, hub: Registry) -> None:
        crates = Crates(program, hub, each=1, image_gib=self.HUGE)
        crates.run("--keep-images", "none")
        assert "GiB" not in crates.run("--retry-failed").stderr

    async def test_sizes_that_nobody_knows_are_told_if_there_is_little_room(
        self, hub: Registry, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("benchwright.app.run_images.LOW_DISK_BYTES", 10**18)
        benchmark = make(TERMINAL_BENCH, Options())
        assert isinstance(benchmark, ContainerBenchmark)
        said: list[str] = []
        images = RunImages(benchmark, lambda sample: TaskImages((hub.image(),)), None, may_order=True)
        await images.decide_kept_images(lambda: [Sample("one", {})], said.append)
        (line,) = said
        assert (
            "1 image of terminal_bench that is not here yet; --limit and --keep-images none need less."
            in line
        )
        assert images.keeping.keep == "all"


class TestTheCommand:
    def test_it_lists_ours_with_what_they_are_for(self, crates: Crates, program: Program) -> None:
        docker("pull", crates.images["b0"])
        crates.run()
        found = {str(image["name"]): image for image in listed(program)}
        assert found.keys() & set(crates.images.values()) == set(crates.images.values()) - {
            crates.images["b0"]
        }
        one = found[crates.images["a0"]]
        assert (one["purpose"], one["built"]) == ("crates", False)
        shown = program.run("images").stdout
        assert crates.images["a0"] in shown
        assert "pulled" in shown

    def test_it_deletes_by_name_and_pattern_and_nothing_else(self, crates: Crates, program: Program) -> None:
        docker("pull", crates.images["b0"])
        crates.run()
        pattern = f"{crates.registry.address}/b*"
        ended = program.run("images", "delete", crates.images["a0"], pattern, "-y")
        assert ended.returncode == 0, ended.stderr
        assert crates.here() == {"a1", "a2", "b0"}
        assert f"Deleted {crates.images['a0']}." in ended.stdout

    def test_it_asks_first(self, crates: Crates, program: Program) -> None:
        crates.run("--limit", "1")
        ended = program.run("images", "delete", crates.images["a0"])
        assert "use --yes" in one_line_of(ended.stderr)
        assert crates.here() == {"a0"}

    def test_one_in_use_is_kept_and_that_is_said(self, crates: Crates, program: Program) -> None:
        crates.run("--limit", "1")
        container = docker("create", crates.images["a0"], "true")
        try:
            ended = program.run("images", "delete", crates.images["a0"], "-y")
        finally:
            docker("rm", container)
        assert f"Kept {crates.images['a0']}: it is in use." in ended.stdout

    def test_a_name_that_is_not_ours_is_refused_with_the_nearest(
        self, crates: Crates, program: Program
    ) -> None:
        docker("pull", crates.images["b0"])
        crates.run("--limit", "1")
        ended = program.run("images", "delete", crates.images["b0"], "-y")
        assert f"Did you mean '{crates.images['a0']}'?" in one_line_of(ended.stderr)
        assert crates.here() == {"a0", "b0"}

    def test_what_to_delete_must_be_said(self, program: Program) -> None:
        assert program.run("images", "delete").returncode == 2
