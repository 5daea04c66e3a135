"""`benchwright noise`: how far two runs of one model lie apart by chance, from its repeats."""

from __future__ import annotations

import json
from math import sqrt

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.compare_kit import Made, write_run
from tests.app.decide_kit import deciding

from benchwright.records import Status

RUN = "20260101T000000-repeated-00000000"
FLIPPING = [
    Made(str(sample), float(repeat < 2), repeat=repeat) for sample in range(25) for repeat in range(4)
]
"""Each sample is right twice and wrong twice."""


@pytest.fixture
def home(program: Program) -> Program:
    write_run(program.home / "runs" / RUN, FLIPPING, repeats=4)
    return program


def test_the_noise_is_that_of_the_repeats(home: Program) -> None:
    (floor,) = json.loads(home.run("noise", RUN, "--json").stdout)["noise"]
    assert (floor["run"], floor["score"], floor["samples"], floor["values"]) == (RUN, "exact", 25, 100)
    assert floor["flips"] == pytest.approx(4 / 6), "of the six pairs of a sample's answers four differ"
    assert floor["within"] == pytest.approx(1 / 3), "the variance of 1, 1, 0, 0"
    assert floor["apart"] == pytest.approx(1.959964 * sqrt(2 * floor["within"] / 4 / 25), rel=1e-5)
    assert {plan["repeats"] for plan in floor["plans"]} == {1, 2, 4, 8}


def test_it_is_told_in_a_sentence_and_two_tables_of_80_columns(home: Program) -> None:
    shown = home.run("noise", RUN).stdout
    assert "model, eval questions, exact: up to ±0.160 between two runs like this one is noise." in " ".join(
        shown.split()
    )
    assert "66.7 %" in shown
    assert "Samples to see  1 repeat  2 repeats  4 repeats  8 repeats" in shown


def test_a_model_stands_for_its_runs_with_repeats(home: Program) -> None:
    write_run(home.home / "runs" / "20260102T000000-once-00000000", [Made("0"), Made("1")])
    (floor,) = json.loads(home.run("noise", "model", "--json").stdout)["noise"]
    assert floor["run"] == RUN


def test_failures_are_no_answers(program: Program) -> None:
    trials = [*FLIPPING, Made("0", failed=Status.PROVIDER_ERROR, repeat=4)]
    write_run(program.home / "runs" / RUN, trials, repeats=5)
    (floor,) = json.loads(program.run("noise", RUN, "--json").stdout)["noise"]
    assert floor["values"] == 100


def test_without_repeats_it_says_what_to_do(program: Program) -> None:
    write_run(program.home / "runs" / RUN, [Made("0"), Made("1")])
    ended = program.run("noise", RUN)
    assert ended.returncode == 1
    assert "ask each sample more than once, with --n 4 or so" in one_line_of(ended.stderr)


def test_what_is_neither_a_run_nor_a_model_is_told(home: Program) -> None:
    ended = home.run("noise", "nothing")
    assert "No run and no model is called 'nothing'." in one_line_of(ended.stderr)


@pytest.mark.parametrize(("right", "told"), [(2, "within"), (4, "beyond")])
def test_compare_says_whether_two_runs_of_one_model_differ_by_more(
    home: Program, right: int, told: str
) -> None:
    other = "20260102T000000-other-00000000"
    trials = [Made(str(n), float(r < right), repeat=r) for n in range(20) for r in range(4)]
    trials += [Made(str(n), float(r < 2), repeat=r) for n in range(20, 25) for r in range(4)]
    write_run(home.home / "runs" / other, trials, repeats=4)
    ended = home.run("compare", RUN, other)
    assert f"this difference is {told} that." in " ".join(ended.stdout.split())
    (pair,) = json.loads(home.run("compare", RUN, other, "--json").stdout)["pairs"]
    assert pair["scores"][0]["noise"] == pytest.approx(0.16 if right == 2 else 0.127, abs=0.02)


def test_a_dry_run_tells_how_many_samples_a_difference_needs_by_an_earlier_run(program: Program) -> None:
    with deciding(program, {"flaky": [0.5] * 40}) as decider:
        decider.run("--n", "2", models=("flaky",))
        planned = decider.run("--n", "4", "--dry-run", models=("flaky",))
        others = decider.run("--dry-run", models=("another",))
        command = [word for word in decider.command("--dry-run", models=("flaky",)) if word != "--json"]
        shown = program.run(*command, **decider.environment).stdout
    (floor,) = planned["noise"]
    assert (floor["model"], floor["flips"]) == ("flaky", 1.0)
    assert {plan["difference"] for plan in floor["plans"]} >= {0.01, 0.02, 0.03, 0.05}
    assert "noise" not in others
    assert "Samples to see" in shown
