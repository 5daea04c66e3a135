"""`resume` and `retry`: a run is gone on with by its id, from wherever, as it was begun."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest
from tests.app.app_kit import Program, finished, trials
from tests.app.benchmark_kit import knowing, only_result, result_files, write_mmlu
from tests.app.pack_kit import need_node, numbered, write_pack
from tests.simulated import simulated_endpoint


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    (tmp_path / "work").mkdir()
    program = Program(tmp_path / "work")
    yield program
    program.end()


def elsewhere(program: Program) -> None:
    """From now on commands are given in another directory."""
    program.directory = program.directory.parent


def interrupted(program: Program, command: list[str]) -> str:
    """Begins a run and interrupts it when some of it is done; returns its id."""
    process = program.start(*command)
    for _ in range(600):
        if program.runs and len(finished(program.only_run)) >= 3:
            break
        assert process.poll() is None, process.communicate()
        sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    return program.only_run.name


class TestResume:
    def test_a_benchmark_goes_on_from_another_directory(self, program: Program) -> None:
        path = write_mmlu(program, 24)
        with knowing("mmlu", path, 0.75, "--first-token=100") as url:
            begun = interrupted(
                program, ["--base-url", url, "--model", "m", "run", "mmlu", "--concurrency", "2"]
            )
            work, before = program.directory, len(finished(program.only_run))
            elsewhere(program)
            ended = program.run("resume", begun)
        assert ended.returncode == 0, ended.stderr
        assert 3 <= before < 24
        assert len(finished(program.only_run)) == 24
        (result,) = (work / "results").glob("*.json")
        assert '"accuracy": 0.75' in result.read_text()

    def test_an_eval_goes_on(self, program: Program) -> None:
        with simulated_endpoint("--first-token=100") as url:
            begun = interrupted(program, program.evaluating(program.rows(20), url, "--batch-size=2"))
            elsewhere(program)
            ended = program.run("resume", begun[:15])
        assert ended.returncode == 0, ended.stderr
        assert len(finished(program.only_run)) == 20

    def test_a_pack_goes_on(self, program: Program) -> None:
        need_node()
        write_pack(program.directory / "pack", numbered(12))
        with simulated_endpoint("--first-token=150") as url:
            command = ["pack", "run", "./pack", "--model", "m", "--base-url", url, "--concurrency", "2"]
            begun = interrupted(program, [*command, "--mode", "full_parallel"])
            elsewhere(program)
            ended = program.run("resume", begun)
        assert ended.returncode == 0, ended.stderr
        assert len({trial.key for trial in finished(program.only_run)}) == 12
        assert "100 pts" in ended.stdout

    def test_a_finished_run_is_not_resumed(self, program: Program) -> None:
        path = write_mmlu(program, 2)
        with knowing("mmlu", path) as url:
            program.run("--base-url", url, "--model", "m", "run", "mmlu")
        ended = program.run("resume", program.only_run.name)
        assert ended.returncode == 1
        assert "is finished" in ended.stderr

    def test_a_run_whose_data_has_changed_is_not_gone_on_with(self, program: Program) -> None:
        path = write_mmlu(program, 24)
        with knowing("mmlu", path, 1.0, "--first-token=100") as url:
            begun = interrupted(
                program, ["--base-url", url, "--model", "m", "run", "mmlu", "--concurrency", "2"]
            )
            path.write_text(path.read_text().replace("Which", "What"))
            ended = program.run("resume", begun)
        assert ended.returncode == 1
        assert "cannot be resumed" in ended.stderr
        assert len(program.runs) == 1


class TestRetry:
    def test_failed_trials_of_a_benchmark_are_made_again_in_the_same_run(self, program: Program) -> None:
        path = write_mmlu(program, 10)
        options = ("--fault=server_error=1", "--max-faults=3")
        with knowing("mmlu", path, 1.0, *options) as url:
            first = program.run("--base-url", url, "--model", "m", "run", "mmlu", "--retries", "0")
            assert first.returncode == 0, first.stderr
            assert only_result(program)["errors"] == 3
            again = program.run("retry", program.only_run.name)
        assert again.returncode == 0, again.stderr
        assert [result["errors"] for result in result_files(program)] == [3, 0]
        assert len(trials(program.only_run)) == 13

    def test_one_scenario_of_a_pack_is_made_again(self, program: Program) -> None:
        need_node()
        write_pack(program.directory / "pack", numbered(3))
        with simulated_endpoint() as url:
            program.run("pack", "run", "./pack", "--model", "m", "--base-url", url)
            again = program.run("retry", program.only_run.name, "--scenario", "S-02")
        assert again.returncode == 0, again.stderr
        made = [(trial.sample, trial.attempt) for trial in trials(program.only_run)]
        assert sorted(made) == [("S-01", 0), ("S-02", 0), ("S-02", 1), ("S-03", 0)]

    def test_scenarios_are_for_packs(self, program: Program) -> None:
        path = write_mmlu(program, 2)
        with knowing("mmlu", path) as url:
            program.run("--base-url", url, "--model", "m", "run", "mmlu")
        ended = program.run("retry", program.only_run.name, "--scenario", "S-02")
        assert ended.returncode == 2
        assert "are for packs" in ended.stderr
