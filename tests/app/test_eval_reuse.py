"""`--reuse` and `--rescore`: what was asked once is not asked again; the server's own log proves it."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.eval_kit import CACHED, Project, Server, read_json, target

OFFER = "{} of {} conversations from earlier runs are still valid; --reuse keeps them.\n"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """Four of the six rows were evaluated, two times each."""
    directory = tmp_path_factory.mktemp("evaluated")
    project = Project(Program(directory))
    project.run(*project.command(server.base_url, "--limit=4", "--n=2"))
    return directory


@pytest.fixture
def project(program: Program, evaluated: Path) -> Project:
    """A copy of what was evaluated."""
    shutil.copytree(evaluated, program.directory, dirs_exist_ok=True)
    return Project(program)


def baseline(server: Server) -> list[str]:
    return ["--baseline-model=b", f"--baseline-base-url={server.base_url}"]


RAISED = {
    "limit": (["--limit=6", "--n=2"], 12),
    "n": (["--limit=4", "--n=5"], 20),
    "offset": (["--offset=2", "--limit=4", "--n=2"], 8),
    "threshold": (["--limit=4", "--n=2", "--pass-threshold=0.5"], 8),
}
VALID = {"limit": 8, "n": 8, "offset": 4, "threshold": 8}


@pytest.mark.parametrize("raised", RAISED)
def test_what_is_still_valid_is_kept(project: Project, server: Server, raised: str) -> None:
    more, trials = RAISED[raised]
    before = server.asked()
    ended = project.run(*project.command(server.base_url, *more, "--reuse"))
    assert server.asked() - before == trials - VALID[raised]
    assert f"{VALID[raised]} reused from earlier runs" in ended.stdout
    check_scores(project, trials)


def check_scores(project: Project, trials: int) -> None:
    """The last eval is completed, with the right score for every run."""
    entry = project.last_entry
    assert entry["status"] == "completed"
    assert entry["summary"]["total_runs"] == len(entry["runs"]) == trials
    for run in entry["runs"]:
        assert run["scores"] == {"rewards:right": float(target(run["row_index"]) != "another")}


def test_another_eval_function_scores_what_was_said(project: Project, server: Server) -> None:
    more = ["--limit=4", "--n=2", "--eval-fn=rewards:length", "--reuse"]
    before = server.asked()
    project.run(*project.command(server.base_url, *more))
    assert server.asked() == before
    assert {fn: one["mean"] for fn, one in project.last_entry["summary"]["eval_fns"].items()} == {
        "rewards:right": 0.5,
        "rewards:length": 3.0,
    }


def test_a_changed_eval_function_does_too(project: Project, server: Server) -> None:
    text = (project.program.directory / "rewards.py").read_text()
    project.program.write("rewards.py", text.replace("float(solution_str == ground_truth)", "0.25"))
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--reuse"))
    assert server.asked() == before
    assert project.last_entry["summary"]["eval_fns"]["rewards:right"]["mean"] == 0.25


def test_an_added_baseline_is_all_that_is_asked(project: Project, server: Server) -> None:
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", *baseline(server), "--reuse"))
    assert server.asked() - before == 8
    runs = project.last_entry["runs"]
    assert len(runs) == 16
    assert [run["model_tag"] for run in runs].count("primary") == 8


def test_a_model_evaluated_by_itself_is_a_baseline_that_nobody_asks(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", model="b"))
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--limit=4", "--n=2", *baseline(server), "--reuse"))
    assert server.asked() == before
    assert ended.stdout.count("8 reused from earlier runs") == 2


def test_a_model_that_was_only_a_baseline_is_not_asked_again_on_its_own(
    project: Project, server: Server
) -> None:
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", *baseline(server), model="a"))
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--reuse", model="b"))
    assert server.asked() == before
    assert "primary: b  8 trials (2 per row), 8 reused from earlier runs" in ended.stdout
    check_scores(project, 8)


def test_a_project_that_has_moved_keeps_its_conversations(project: Project, server: Server) -> None:
    moved = project.program.directory / "elsewhere"
    moved.mkdir()
    for name in ("agent.py", "rewards.py", "data.jsonl"):
        shutil.move(project.program.directory / name, moved / name)
    project.program.directory = moved
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=2"))
    project.run(*project.command(server.base_url, "--limit=5", "--n=2", "--reuse"))
    assert server.asked() - before == 2


def test_many_evaluations_of_other_datasets_do_not_hide_it(project: Project, server: Server) -> None:
    (known,) = project.entries
    for number in range(25):
        run = project.program.home / "runs" / f"other-{number}"
        run.mkdir()
        (run / "run.json").touch()
        other = known.parents[1] / "another" / f"{4_000_000_000 + number}_{number:012}.json"
        other.parent.mkdir(exist_ok=True)
        other.write_text(json.dumps(read_json(known) | {"run": str(run)}))
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--pass-threshold=0.5", "--reuse"))
    assert server.asked() == before


@pytest.mark.parametrize("changed", ["agent", "--temperature=0.5", "--max-turns=3", "rows"])
def test_what_would_be_asked_otherwise_is_asked(project: Project, server: Server, changed: str) -> None:
    more = [changed] if changed.startswith("--") else []
    if changed == "agent":
        text = (project.program.directory / "agent.py").read_text()
        project.program.write("agent.py", text.replace("asks-once", "another"))
    if changed == "rows":
        text = (project.program.directory / "data.jsonl").read_text()
        project.program.write("data.jsonl", text.replace('"s"', '"another"'))
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--reuse", *more))
    assert server.asked() - before == 8
    assert "reused from earlier runs" not in ended.stdout


def test_failed_ones_are_not_taken_over(project: Project, server: Server) -> None:
    project.program.write("broken", "")
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--fresh"))
    (project.program.directory / "broken").unlink()
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=3", "--reuse"))
    assert server.asked() - before == 4 + 2, "the third of each row, and the two of row 0 that had failed"
    check_scores(project, 12)


def test_without_it_all_is_asked_and_one_line_offers_it(project: Project, server: Server) -> None:
    before = server.asked()
    command = project.command(server.base_url, "--limit=6", "--n=2")
    ended = project.run(*command)
    assert OFFER.format(8, 12) in ended.stderr
    assert server.asked() - before == 12
    assert "--reuse" not in project.run(*command).stderr, "there is nothing to offer for a finished eval"
    assert "--reuse" not in project.run(*command, "--fresh").stderr, "nor where the user wants none of it"


@pytest.mark.parametrize("hidden", ["rm", "cache", "fresh"])
def test_what_the_user_has_put_away_is_not_taken_over(project: Project, server: Server, hidden: str) -> None:
    if hidden == "rm":
        project.run("eval", "cache", "rm", "--all", "-y")
    elif hidden == "cache":
        project.environment["OSMOSIS_CACHE_DIR"] = str(project.program.directory / "another")
    else:
        project.program.write("broken", "")
        project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--fresh"))
        (project.program.directory / "broken").unlink()
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--limit=4", "--n=3", "--reuse"))
    valid = 6 if hidden == "fresh" else 0
    assert server.asked() - before == 12 - valid
    assert ("reused from earlier runs" in ended.stdout) == bool(valid)


# --rescore


def test_rescoring_asks_no_model(project: Project, server: Server) -> None:
    text = (project.program.directory / "rewards.py").read_text()
    project.program.write("rewards.py", text.replace("float(solution_str == ground_truth)", "0.75"))
    before = server.asked()
    project.run(*project.command(server.base_url, "--limit=4", "--n=2", "--rescore"))
    assert server.asked() == before
    entry = project.last_entry
    assert entry["summary"]["eval_fns"]["rewards:right"]["mean"] == 0.75
    assert len(entry["runs"]) == 8


def test_rescoring_what_is_finished_calls_the_functions_again(project: Project, server: Server) -> None:
    project.program.write("rewards.py", COUNTING)
    command = project.command(server.base_url, "--limit=4", "--n=2")
    project.run(*command, "--reuse")
    calls = project.program.directory / "calls"
    assert len(calls.read_text()) == 8
    before = server.asked()
    project.run(*command, "--rescore")
    assert server.asked() == before
    assert len(calls.read_text()) == 16


COUNTING = """
def right(solution_str, ground_truth, extra_info=None):
    with open("calls", "a") as file:
        file.write(".")
    return 1.0
"""


def test_rescoring_leaves_out_what_was_never_asked(project: Project, server: Server) -> None:
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--limit=6", "--n=2", "--rescore"))
    assert "4 of 12 trials have no earlier conversation and are skipped.\n" in ended.stderr
    assert server.asked() == before
    assert len(project.last_entry["runs"]) == 8


def test_there_must_be_something_to_rescore(project: Project, server: Server) -> None:
    ended = project.run(*project.command(server.base_url, "--max-turns=2", "--rescore"), code=1)
    assert one_line_of(ended.stderr) == (
        "Error: No earlier conversations of this configuration to rescore; run it without --rescore."
    )


def interrupt_rescoring(project: Project, command: list[str]) -> None:
    """Begins to score anew what was said, interrupts it, and lets the next one be quick."""
    process = project.program.start(*command, "--rescore", **project.environment)
    calls = project.program.directory / "calls"
    while not calls.exists():
        assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    project.program.write("quick", "")


def test_an_interrupted_rescoring_can_be_given_again(project: Project, server: Server) -> None:
    project.program.write("rewards.py", SLOW)
    command = project.command(server.base_url, "--limit=4", "--n=2")
    interrupt_rescoring(project, command)
    before = server.asked()
    project.run(*command, "--rescore")
    assert server.asked() == before
    assert len(project.last_entry["runs"]) == 8


def test_an_interrupted_rescoring_is_nothing_to_go_on_with(project: Project, server: Server) -> None:
    """The command without it shows what there was before, and asks nobody."""
    project.program.write("rewards.py", SLOW)
    project.program.write("quick", "")
    command = project.command(server.base_url, "--limit=4", "--n=2")
    project.run(*command, "--reuse")
    first = project.last_entry
    (project.program.directory / "quick").unlink()
    (project.program.directory / "calls").unlink()
    interrupt_rescoring(project, command)
    before = server.asked()
    ended = project.run(*command, "-o", "shown.json")
    assert server.asked() == before
    assert CACHED in ended.stdout
    shown = read_json(project.program.directory / "shown.json")
    assert shown["summary"]["total_runs"] == first["summary"]["total_runs"] == 8


def test_after_it_another_configuration_is_asked_as_ever_and_the_offer_is_made(
    project: Project, server: Server
) -> None:
    project.program.write("rewards.py", SLOW)
    command = project.command(server.base_url, "--limit=4", "--n=2")
    interrupt_rescoring(project, command)
    before = server.asked()
    ended = project.run(*command)
    assert server.asked() - before == 8
    assert OFFER.format(8, 8) in ended.stderr


def test_a_rescoring_that_left_trials_out_is_not_the_whole(project: Project, server: Server) -> None:
    command = project.command(server.base_url, "--limit=6", "--n=2")
    project.run(*command, "--rescore")
    before = server.asked()
    ended = project.run(*command, "--reuse")
    assert server.asked() - before == 4
    assert CACHED not in ended.stdout
    check_scores(project, 12)


SLOW = """
import time
from pathlib import Path


def right(solution_str, ground_truth, extra_info=None):
    Path("calls").touch()
    if not Path("quick").exists():
        time.sleep(0.3)
    return 1.0
"""
