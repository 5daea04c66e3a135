"""`--n`: each repeat is sent a seed of its own by every command, and repeats that are all equal are told of."""

from __future__ import annotations

import html
import json

import pytest
from tests.app.app_kit import Program, finished
from tests.app.benchmark_kit import write_mmlu
from tests.app.sampling_server import sampling_server

from benchwright.engine.seeds import repeat_seed
from benchwright.runs.journal import read_body


@pytest.mark.parametrize("workers", [1, 2])
def test_repeats_of_a_question_are_drawn_anew_where_the_server_honours_seeds(
    program: Program, workers: int
) -> None:
    write_mmlu(program, 2)
    with sampling_server() as server:
        ended = program.run(
            *("--base-url", server.base_url, "--model", "m", "run", "mmlu", "--n", "3"),
            *("--temperature", "0.8", "--workers", str(workers), "--concurrency", "2"),
        )
    assert ended.returncode == 0, ended.stderr
    run, expected = program.only_run, [repeat_seed(42, repeat) for repeat in range(3)]
    assert sorted(body["seed"] for body in server.bodies) == sorted([*expected, *expected])
    recorded = {(trial.sample, trial.repeat): trial.requests[0].seed for trial in finished(run)}
    assert recorded == {
        (sample, repeat): seed for sample in ("mmlu_0", "mmlu_1") for repeat, seed in enumerate(expected)
    }
    assert len({read_body(run, trial).answer for trial in finished(run)}) == 6


def test_an_eval_sends_its_seed_first_and_others_with_further_repeats(program: Program) -> None:
    with sampling_server() as server:
        program.summary(*program.evaluating(program.rows(1), server.base_url, "--n", "3", "--seed", "7"))
    assert [body["seed"] for body in server.bodies] == [repeat_seed(7, repeat) for repeat in range(3)]


def test_an_export_of_requests_has_their_seeds(program: Program) -> None:
    with sampling_server() as server:
        program.summary(*program.evaluating(program.rows(1), server.base_url, "--n", "2", "--seed", "7"))
    program.run("export", program.only_run.name, "--what", "requests", "-o", "requests.jsonl")
    rows = (program.directory / "requests.jsonl").read_text().splitlines()
    assert [json.loads(row)["seed"] for row in rows] == [7, repeat_seed(7, 1)]


def test_a_resumed_run_goes_on_with_the_seeds_of_its_repeats(program: Program) -> None:
    with sampling_server() as server:
        command = program.evaluating(
            program.rows(2), server.base_url, "--n", "3", "--seed", "7", "--no-probe"
        )
        program.run(*command, "--budget-tokens", "30")
        program.summary(*command)
    assert sorted(body["seed"] for body in server.bodies) == sorted(
        2 * [repeat_seed(7, repeat) for repeat in range(3)]
    )


def test_a_prompt_that_comes_round_again_under_load_has_a_seed_of_its_own(program: Program) -> None:
    rows = program.rows(2)
    with sampling_server() as server:
        ended = program.run(
            *("load", "--dataset", rows, "--model", "m", "--base-url", server.base_url),
            *("--requests", "4", "--seed", "7", "--json"),
        )
    assert json.loads(ended.stdout)["levels"][0]["requests"] == 4
    assert [body["seed"] for body in server.bodies] == [7, 7, repeat_seed(7, 1), repeat_seed(7, 1)]


EQUAL = "Repeats are equal: at temperature 0.8, all repeats of a sample got the same answer (5 samples looked at)."


def test_a_server_that_caches_its_answers_is_told_of_wherever_the_run_is_shown(program: Program) -> None:
    write_mmlu(program, 5)
    with sampling_server(honours_seeds=False) as server:
        asked = ("--base-url", server.base_url, "--model", "m", "run", "mmlu", "--n", "2", "--temperature")
        told = program.run(*asked, "0.8")
    assert EQUAL in " ".join(told.stdout.split())
    (target,) = json.loads(program.run("show", program.only_run.name, "--json").stdout)["targets"]
    assert target["equal_repeats"] == {"samples": 5, "temperature": 0.8}
    assert program.run("report", program.only_run.name, "-o", "run.html").returncode == 0
    assert EQUAL in html.unescape((program.directory / "run.html").read_text())


def test_a_server_that_samples_is_not(program: Program) -> None:
    write_mmlu(program, 5)
    with sampling_server() as server:
        program.run(
            "--base-url", server.base_url, "--model", "m", "run", "mmlu", "--n", "2", "--temperature=0.8"
        )
    (target,) = json.loads(program.run("show", program.only_run.name, "--json").stdout)["targets"]
    assert "equal_repeats" not in target


def test_thoughts_that_differ_before_equal_answers_are_repeats(program: Program) -> None:
    write_mmlu(program, 5)
    with sampling_server(honours_seeds=False, thinks=True) as server:
        program.run(
            "--base-url", server.base_url, "--model", "m", "run", "mmlu", "--n", "2", "--temperature=0.8"
        )
    (target,) = json.loads(program.run("show", program.only_run.name, "--json").stdout)["targets"]
    assert "equal_repeats" not in target
