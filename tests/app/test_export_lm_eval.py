"""`export --format lm-eval`: the layout of lm-evaluation-harness, read back as the same figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.interop.foreign_kit import run_of

from benchwright.analysis.summary import summary_of
from benchwright.records import Status, Target

TRIALS = [
    Made("a/1", 1.0, span="42", asked="What is it?"),
    Made("b", None, asked="And this?"),
    Made("e", failed=Status.EXECUTION_ERROR, asked="Lost?"),
]


def exported(program: Program) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The results and the lines of samples of the run `run-1`."""
    ended = program.run("export", "run-1", "--format", "lm-eval", "-o", "out")
    assert ended.returncode == 0, ended.stderr
    (results,) = Path(program.directory, "out").rglob("results_*.json")
    (samples,) = Path(program.directory, "out").rglob("samples_*.jsonl")
    assert samples.stem.split("_")[-1] == results.stem.split("_")[-1]
    return json.loads(results.read_text()), [json.loads(line) for line in samples.read_text().splitlines()]


def test_a_line_has_its_question_answer_and_scores(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", TRIALS)
    _, lines = exported(program)
    first, second = lines
    assert first["doc"]["id"] == "a/1"
    assert first["metrics"] == ["exact"]
    assert (first["exact"], second["exact"]) == (1.0, 0.0)
    assert first["filtered_resps"] == ["42"]
    assert first["arguments"]["gen_args_0"]["arg_0"] == "What is it?"


def test_results_have_the_mean_and_what_failed_has_no_line(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", TRIALS)
    results, lines = exported(program)
    assert len(lines) == 2
    assert results["results"]["questions"]["exact,none"] == 0.5
    assert results["n-samples"]["questions"] == {"original": 3, "effective": 2}
    assert results["higher_is_better"] == {"questions": {"exact": True}}


def test_repeats_become_one_line_with_their_mean(program: Program) -> None:
    trials = [
        Made("a", value, repeat=place, answer=f"{value}") for place, value in enumerate([1.0, 0.0, 0.0])
    ]
    write_run(program.home / "runs" / "run-1", trials)
    results, lines = exported(program)
    (line,) = lines
    assert line["exact"] == 1 / 3
    assert line["resps"] == [["1.0", "0.0", "0.0"]]
    assert results["configs"]["questions"]["repeats"] == 3


def test_repeats_that_lie_apart_are_found(program: Program) -> None:
    trials = [Made(name, value, repeat=place) for place, value in enumerate([1.0, 0.0]) for name in "ba"]
    write_run(program.home / "runs" / "run-1", trials)
    _, lines = exported(program)
    assert [(line["doc"]["id"], line["exact"]) for line in lines] == [("b", 0.5), ("a", 0.5)]


def test_a_name_with_a_filter_keeps_it(program: Program) -> None:
    own = {"exact_match,strict": 1.0, "exact_match,flexible": 0.0}
    write_run(program.home / "runs" / "run-1", [Made("a", own=own)], scorers=[])
    results, lines = exported(program)
    assert [(line["filter"], line["exact_match"]) for line in lines] == [("strict", 1.0), ("flexible", 0.0)]
    assert set(results["results"]["questions"]) >= set(own)


def test_read_back_it_has_the_same_mean_and_samples(program: Program) -> None:
    run = write_run(program.home / "runs" / "run-1", [*made([1.0, 0.0, 1.0, None]), *TRIALS])
    exported(program)
    ended = program.run("show", "out", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    (score,) = found["targets"][0]["scores"]
    (ours,) = summary_of(run).targets[0].scores
    assert (score["mean_scored"], score["low"], score["high"]) == (ours.mean_scored, ours.low, ours.high)
    assert found["origin"]["program"].startswith("benchwright")


def test_each_model_has_a_folder(program: Program) -> None:
    targets = [Target("primary", "org/a", "http://127.0.0.1:9/v1"), Target("baseline", "org/a", "")]
    trials = [*made([1.0]), *made([0.0], slot="baseline")]
    write_run(program.home / "runs" / "run-1", trials, targets=targets)
    ended = program.run("export", "run-1", "--format", "lm-eval", "-o", "out")
    assert ended.returncode == 0, ended.stderr
    assert sorted(one.name for one in Path(program.directory, "out").iterdir()) == [
        "org__a__baseline",
        "org__a__primary",
    ]
    _, read = run_of(Path(program.directory, "out", "org__a__baseline"))
    assert [next(iter(one.scores.values())).value for one in read] == [0.0]
