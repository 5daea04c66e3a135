"""A user's own benchmark in containers: `DockerBenchmark`, from `llm-bench run` and by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import only_result
from tests.catalog.containers.running import says
from tests.catalog.containers.workshop import WORKSHOP, workshop
from tests.sandbox.docker.conftest import running_engine
from tests.sandbox.docker.stand_ins import containers, docker
from tests.simulated import simulated_endpoint

from benchwright.errors import ExecutionError, UserError
from benchwright.sandbox.docker.ownership import PROCESS_LABEL, unique_process_id
from llm_benchmarker.benchmarks.base import BenchmarkSample, SampleResult
from llm_benchmarker.benchmarks.docker_base import DockerBenchmark

__all__ = ["running_engine", "workshop"]

OURS = f"{PROCESS_LABEL}={unique_process_id()}"

PLUGIN = f"""
from .base import BenchmarkSample, SampleResult
from .docker_base import DockerBenchmark

class Files(DockerBenchmark):
    name = "files"
    description = "Makes files"
    docker_image = "{WORKSHOP}"
    max_turns = 3

    async def load_dataset(self, data_dir, max_samples=None):
        names = ["apple", "pear", "plum"][:max_samples]
        return [
            BenchmarkSample(name, [{{"role": "user", "content": f"Make the file {{name}}."}}], {{"expected": name}})
            for name in names
        ]

    async def multi_turn(self, sample, client, config):
        messages = list(sample.messages)
        async with self.container() as box:
            await box.run("mkdir /job && cd /job")
            for _ in range(self.max_turns):
                text, _ = await client.chat_completion(messages, max_tokens=self.max_tokens)
                if text == "Done.":
                    break
                ran = await box.run(text, timeout=20)
                messages += [
                    {{"role": "assistant", "content": text}},
                    {{"role": "user", "content": f"{{ran.exit_code}}: {{ran.output}}"}},
                ]
            made = (await box.run("ls /job")).output.split()
        right = made == [sample.metadata["expected"]]
        details = {{"said": [message["content"] for message in messages[2::2]]}}
        return SampleResult(sample.id, right, float(right), predicted=made, expected=sample.id, details=details)
"""


class ByHand(DockerBenchmark):
    """What a user might write, used without a run."""

    name = "by_hand"
    docker_image = WORKSHOP

    async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
        return []

    async def multi_turn(self, sample: BenchmarkSample, client: Any, config: Any) -> SampleResult:
        raise NotImplementedError


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.end()


def test_a_users_benchmark_runs_end_to_end(program: Program, workshop: str) -> None:
    plugin = program.write("mine.py", PLUGIN)
    scripts = [
        says("the file apple.", "touch apple", "Done."),
        says("the file pear.", "touch per; ls; false", "mv per pear", "Done."),
        says("the file plum.", "touch prune", "Done."),
    ]
    with simulated_endpoint(scripts=scripts) as url:
        ended = program.run("--base-url", url, "--model", "m", "run", "files", "--plugin", plugin)
    assert ended.returncode == 0, ended.stderr
    result = only_result(program)
    assert (result["benchmark"], result["num_samples"]) == ("files", 3)
    assert [sample["correct"] for sample in result["sample_results"]] == [True, True, False]
    assert result["accuracy"] == pytest.approx(2 / 3)
    assert result["sample_results"][1]["details"]["said"] == ["1: per\n", "0: "]
    assert result["sample_results"][2]["predicted"] == "['prune']"


def test_without_an_engine_it_is_told_before_any_model_is_asked(program: Program) -> None:
    plugin = program.write("mine.py", PLUGIN)
    ended = program.run(
        *("--base-url", NOWHERE, "--model", "m", "run", "files", "--plugin", plugin, "--no-probe"),
        DOCKER_HOST="unix:///nowhere/docker.sock",
    )
    assert ended.returncode == 1
    assert "unix:///nowhere/docker.sock" in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_container_by_hand(workshop: str) -> None:
    async with ByHand().container() as box:
        await box.write("/job/main.py", "print(6 * 7)")
        await box.run("cd /job; export WHO=me")
        ran = await box.run("python main.py; echo $WHO >&2; pwd > where; exit 3")
        assert (ran.output, ran.exit_code, ran.ended, ran.ok) == ("42\nme\n", 3, "exited", False)
        assert await box.read("/job/where") == b"/job\n"
        assert containers(OURS) != []
    assert containers(OURS) == []


async def test_it_has_the_documented_limits(workshop: str) -> None:
    async with ByHand().container() as box:
        (name,) = containers(OURS)
        shape = "{{.HostConfig.Memory}} {{.HostConfig.NanoCpus}} {{.HostConfig.NetworkMode}} {{.HostConfig.PidsLimit}}"
        assert docker("inspect", "--format", shape, name) == f"{2 * 2**30} 1000000000 none 256"
        assert (await box.run("ls /sys/class/net")).output == "lo\n"
        slow = await box.run("sleep 60", timeout=1)
        assert (slow.ended, slow.ok) == ("timeout", False)


async def test_it_is_removed_whatever_happens_inside(workshop: str) -> None:
    with pytest.raises(ZeroDivisionError):
        async with ByHand().container():
            raise ZeroDivisionError
    assert containers(OURS) == []


async def test_two_by_hand_do_not_end_each_others_connection(workshop: str) -> None:
    benchmark = ByHand()
    async with benchmark.container() as one:
        async with benchmark.container() as other:
            assert (await other.run("echo other")).output == "other\n"
        assert (await one.run("echo one")).output == "one\n"


async def test_a_container_that_somebody_ended_is_an_error_and_no_result(workshop: str) -> None:
    async with ByHand().container() as box:
        docker("kill", *containers(OURS))
        with pytest.raises(ExecutionError, match="it was removed from outside"):
            await box.run("echo still here")


@pytest.mark.parametrize(
    ("attribute", "value", "said"),
    [
        ("mem_limit", "lots", "mem_limit is a size such as '2g'"),
        ("mem_limit", "2gb", "mem_limit is a size"),
        ("disk_limit", "", "disk_limit is a size"),
        ("network_mode", "host", "network_mode is 'none' or 'bridge', not 'host'"),
    ],
)
async def test_attributes_that_docker_does_not_know_are_refused(
    attribute: str, value: str, said: str
) -> None:
    benchmark = type("Wrong", (ByHand,), {attribute: value})()
    with pytest.raises(UserError, match=f"^by_hand: {said}"):
        async with benchmark.connected():
            pass


@pytest.mark.parametrize(("size", "count"), [("512m", 512 * 2**20), ("1073741824", 2**30), ("3G", 3 * 2**30)])
def test_sizes_are_read_as_docker_writes_them(size: str, count: int) -> None:
    benchmark = type("Sized", (ByHand,), {"mem_limit": size})()
    assert benchmark._spec("image").resources.memory_bytes == count


def test_a_subclass_must_implement_both_methods() -> None:
    class Half(DockerBenchmark):
        name = "half"

        async def load_dataset(self, data_dir: Path, max_samples: int | None = None) -> list[BenchmarkSample]:
            return []

    with pytest.raises(TypeError, match="multi_turn"):
        Half()  # type: ignore[abstract]
