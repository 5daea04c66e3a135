"""pass@k where repeats are missing: a run that stopped, one that failed in part, a log that lost some."""

from __future__ import annotations

import json
import signal
from typing import Any

import pytest
from tests.app.app_kit import GrowingJournal, Program
from tests.app.failing_endpoint import endpoint
from tests.interop.inspect_kit import sample, write_log
from tests.simulated import simulated_endpoint
from tests.web.web_kit import viewing

REPEATS = ["--n", "5", "--concurrency", "2", "--no-stream"]


def stopped_by_a_budget(program: Program) -> None:
    """Every answer is right, and the tokens of the fifth sample's repeats are over before they are all made."""
    with endpoint() as url:
        ended = program.run(*program.evaluating(program.rows(11), url, *REPEATS, "--budget-tokens", "41"))
    assert (ended.returncode, "the budget of 41 tokens is used up" in ended.stderr) == (1, True), ended.stderr


def passes_of(program: Program) -> dict[int, dict[str, Any]]:
    """pass@k of the only run by k, as `show --json` has it."""
    summary = json.loads(program.run("show", program.only_run.name, "--json").stdout)
    return {one["k"]: one for one in summary["targets"][0]["scores"][0].get("passes", [])}


def test_a_run_that_a_budget_stopped_with_every_answer_right_passes_at_every_k(program: Program) -> None:
    stopped_by_a_budget(program)
    found = passes_of(program)
    assert {k: (one["pass_at_k"], one["pass_hat_k"]) for k, one in found.items()} == dict.fromkeys(
        found, (1.0, 1.0)
    )
    assert found[1].get("too_few", 0) == 0
    assert found[5]["too_few"] == 1
    assert found[5]["samples"] + found[5]["too_few"] == found[1]["samples"]


def test_every_door_says_of_how_many_samples_a_pass_at_k_is(program: Program) -> None:
    stopped_by_a_budget(program)
    found, name = passes_of(program), program.only_run.name
    samples, every = found[5]["samples"], found[1]["samples"]
    shown = program.run("show", name).stdout
    told = f"pass@5: 100.0%  ({samples} of {every} samples; the others have fewer than 5 repeats)"
    assert told in shown
    assert "pass@1: 100.0%\n" in shown, "all samples have a first repeat"
    assert "some samples have fewer repeats: the mean is over trials, the rest over samples" in shown
    with viewing(program) as viewer:
        assert f"pass@5, of {samples} of {every} samples" in viewer.get(f"/runs/{name}").text
    assert program.run("report", name, "-o", "report.html").returncode == 0
    assert f"{samples} of {every}</td>" in (program.directory / "report.html").read_text()


def test_an_output_file_leaves_rows_out_that_have_too_few_runs_and_says_so(program: Program) -> None:
    with endpoint() as url:
        stopping = ["--budget-tokens", "41", "-o", "out.json"]
        program.run(*program.evaluating(program.rows(11), url, *REPEATS, *stopping))
    found = json.loads((program.directory / "out.json").read_text())["summary"]["eval_fns"]["exact"]
    assert {
        name: found[name] for name in found if name.startswith("pass_at_") and name != "pass_at_rows"
    } == {
        "pass_at_1": 1.0,
        "pass_at_3": 1.0,
        "pass_at_5": 1.0,
    }
    assert found["pass_at_rows"]["5"] == found["pass_at_rows"]["1"] - 1


def test_an_interrupted_run_has_no_pass_at_k_that_no_sample_has_repeats_for(program: Program) -> None:
    """Answers come one at a time, and Ctrl-C long before a sample has five."""
    with simulated_endpoint("--ttft", "300ms") as url:
        process = program.start(*program.evaluating(program.rows(3), url, "--n", "5", "--concurrency", "1"))
        GrowingJournal(program).wait_for(1, process)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    found = passes_of(program)
    assert found[1]["pass_at_k"] == 1.0
    assert 5 not in found


def test_a_repeat_that_failed_was_made_and_did_not_pass(program: Program) -> None:
    """The documented rule of pass@k, as of the documented mean."""
    with endpoint(answers=4) as url:
        options = ["--n", "3", "--concurrency", "1", "--no-stream", "--retries", "0"]
        program.run(*program.evaluating(program.rows(2), url, *options))
    found = passes_of(program)
    assert (found[1]["pass_at_k"], found[3]["pass_at_k"]) == (pytest.approx(4 / 6), 1.0)


LOST = [
    *(sample(1, "C", epoch=epoch) for epoch in (1, 2, 3)),
    sample(2, "C", epoch=1),
    *(sample(3, "C", epoch=epoch) for epoch in (1, 3)),
]
"""Three epochs of three samples, of which three were lost."""


@pytest.mark.parametrize("config", [{"epochs": 3}, {}], ids=["epochs planned", "epochs only numbered"])
def test_a_log_that_lost_epochs_is_taken_by_those_that_it_has(
    program: Program, config: dict[str, int]
) -> None:
    log = write_log(program.directory / "log.eval", LOST, config=config)
    assert program.run("import", str(log)).returncode == 0
    found = passes_of(program)
    assert {k: (one["pass_at_k"], one["samples"], one.get("too_few", 0)) for k, one in found.items()} == {
        1: (1.0, 3, 0),
        3: (1.0, 1, 2),
    }
