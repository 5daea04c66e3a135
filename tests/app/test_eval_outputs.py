"""What `eval` and `bench` write: the documented `-o` file, results in a directory, logged conversations."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, one_line_of
from tests.app.eval_kit import ROWS, Project, Server, logging_server, read_json, read_lines, target

from benchwright.analysis.summary_records import RunSummary

FIGURES = ["mean", "std", "min", "max"]


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Knows the right answer to every row."""
    answers = [{"prompt": f"word{row}", "answer": target(row)} for row in range(ROWS)]
    with logging_server(tmp_path_factory.mktemp("right") / "truth.jsonl", answers=answers) as server:
        yield server


@pytest.fixture(scope="module")
def unsteady(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Knows half of the answers, each time another half."""
    answers = [{"prompt": f"word{row}", "answer": target(row)} for row in range(ROWS)]
    log = tmp_path_factory.mktemp("unsteady") / "truth.jsonl"
    with logging_server(log, "--accuracy=0.5", answers=answers) as server:
        yield server


def output(project: Project, *command: str, code: int = 0) -> dict[str, Any]:
    """Runs the command with `-o`, and reads the file."""
    project.run(*command, "-o", "results/out.json", code=code)
    return read_json(project.program.directory / "results" / "out.json")


# -o


def test_a_document_of_one_model(project: Project, server: Server) -> None:
    written = output(project, *project.command(server.base_url, "--eval-fn=rewards:half"))
    assert list(written) == ["config", "summary", "rows"]
    assert list(written["config"].items()) == [
        ("model", "m"),
        ("n_runs", 1),
        ("pass_threshold", 1.0),
        ("eval_fns", ["rewards:right", "rewards:half"]),
    ]
    summary = written["summary"]
    assert list(summary) == ["total_rows", "total_runs", "eval_fns", "total_tokens", "total_duration_ms"]
    assert (summary["total_rows"], summary["total_runs"], summary["total_tokens"]) == (ROWS, ROWS, 3 * ROWS)
    assert list(summary["eval_fns"]) == ["rewards:right", "rewards:half"]
    assert all(list(one) == FIGURES for one in summary["eval_fns"].values()), "pass@k only with several runs"
    assert summary["eval_fns"]["rewards:half"] == dict(zip(FIGURES, (0.5, 0.0, 0.5, 0.5), strict=True))
    durations = []
    for row, listed in enumerate(written["rows"]):
        assert list(listed) == ["row_index", "runs"]
        assert listed["row_index"] == row
        (run,) = listed["runs"]
        assert list(run) == ["run_index", "success", "scores", "duration_ms", "tokens"]
        durations.append(run.pop("duration_ms"))
        scores = {"rewards:right": float(target(row) != "another"), "rewards:half": 0.5}
        assert run == {"run_index": 0, "success": True, "scores": scores, "tokens": 3}
    assert summary["total_duration_ms"] == pytest.approx(sum(durations))


@pytest.mark.parametrize("name", ["b", "m"])
def test_a_document_of_two_models_never_mixes_them(
    project: Project, server: Server, right: Server, name: str
) -> None:
    """Also where both are called the same."""
    baseline = [f"--baseline-model={name}", f"--baseline-base-url={right.base_url}"]
    written = output(project, *project.command(server.base_url, "--n=2", *baseline))
    assert list(written) == ["config", "summary", "rows", "model_summaries"]
    assert list(written["config"]) == ["model", "n_runs", "pass_threshold", "eval_fns", "baseline_model"]
    assert (written["config"]["model"], written["config"]["baseline_model"]) == ("m", name)
    for listed in written["rows"]:
        assert [(run["model_tag"], run["run_index"]) for run in listed["runs"]] == [
            ("primary", 0), ("primary", 1), ("baseline", 0), ("baseline", 1),
        ]  # fmt: skip
    primary, base = written["model_summaries"]
    for one, model, tag in ((primary, "m", "primary"), (base, name, "baseline")):
        assert list(one) == [
            "model", "model_tag", "total_runs", "total_tokens", "total_duration_ms", "eval_fns",
        ]  # fmt: skip
        assert (one["model"], one["model_tag"], one["total_runs"]) == (model, tag, 2 * ROWS)
    assert primary["eval_fns"]["rewards:right"]["mean"] == pytest.approx(4 / 6)
    assert base["eval_fns"]["rewards:right"]["mean"] == 1.0
    assert base["eval_fns"]["rewards:right"]["std"] == 0.0
    summary = written["summary"]
    assert summary["eval_fns"] == primary["eval_fns"], "the official figures are the primary's"
    for total in ("total_tokens", "total_duration_ms"):
        assert summary[total] == pytest.approx(primary[total] + base[total])
    assert project.entry["summary"]["eval_fns"] == primary["eval_fns"]


@pytest.mark.parametrize("repeats", [2, 5, 10])
def test_pass_at_k_is_the_share_of_choices_that_pass(
    project: Project, unsteady: Server, repeats: int
) -> None:
    written = output(project, *project.command(unsteady.base_url, f"--n={repeats}", "--batch-size=4"))
    figures = written["summary"]["eval_fns"]["rewards:right"]
    ks = [k for k in (1, 3, 5, 10) if k <= repeats]
    assert list(figures) == [*FIGURES, *(f"pass_at_{k}" for k in ks)]
    passed = [[run["scores"]["rewards:right"] >= 1 for run in row["runs"]] for row in written["rows"]]
    for k in ks:
        shares = [share_with_a_pass(row, k) for row in passed]
        assert figures[f"pass_at_{k}"] == pytest.approx(sum(shares) / ROWS)
    assert figures["mean"] == pytest.approx(0.5), "half of the rows are right each time"


def share_with_a_pass(runs: list[bool], k: int) -> float:
    """Of all choices of k runs, the share that has a pass among them: counted, not by the formula."""
    choices = list(combinations(runs, k))
    return sum(any(choice) for choice in choices) / len(choices)


SEVENTHS = """
def of_seven(solution_str, ground_truth, extra_info=None):
    return int(extra_info["user_prompt"].removeprefix("word")) / 7
"""


def test_documents_and_summary_say_the_very_same_numbers(project: Project, server: Server) -> None:
    """One of six rows has no agent's answer; the others score 1/7 to 5/7."""
    project.program.write("broken", "")
    project.program.write("sevenths.py", SEVENTHS)
    project.program.environment |= project.environment
    command = project.command(
        server.base_url, "--n=5", "--pass-threshold=0.3", "--batch-size=7", eval_fn="sevenths:of_seven"
    )
    document = output(project, *command)
    (shown,) = project.program.summary(*command).targets[0].scores
    summary = {
        **{name: getattr(shown, name) for name in FIGURES},
        **{f"pass_at_{one.k}": one.pass_at_k for one in shown.passes},
    }
    assert document["summary"]["eval_fns"]["sevenths:of_seven"] == summary
    assert project.entry["summary"]["eval_fns"]["sevenths:of_seven"] == summary
    assert shown.mean == pytest.approx(15 / 42)


@pytest.mark.parametrize(("threshold", "passing"), [("0.5", 1.0), ("0.51", 0.0)])
def test_a_pass_begins_at_the_threshold(
    project: Project, server: Server, threshold: str, passing: float
) -> None:
    command = project.command(server.base_url, "--n=3", "--pass-threshold", threshold, eval_fn="rewards:half")
    written = output(project, *command)
    assert written["config"]["pass_threshold"] == float(threshold)
    figures = written["summary"]["eval_fns"]["rewards:half"]
    assert (figures["mean"], figures["pass_at_1"], figures["pass_at_3"]) == (0.5, passing, passing)


def test_rows_keep_their_place_in_the_file(project: Project, server: Server) -> None:
    written = output(project, *project.command(server.base_url, "--offset=3", "--limit=2", "--batch-size=2"))
    assert [row["row_index"] for row in written["rows"]] == [3, 4]
    assert written["summary"]["total_rows"] == 2


# What failed


@pytest.mark.parametrize("threshold", ["1.0", "0"])
def test_failed_runs_count_as_0_and_never_pass(project: Project, right: Server, threshold: str) -> None:
    project.program.write("broken", "")
    written = output(project, *project.command(right.base_url, "--n=2", f"--pass-threshold={threshold}"))
    failed = written["rows"][0]["runs"]
    for run in failed:
        assert list(run) == ["run_index", "success", "scores", "duration_ms", "tokens", "error"]
        assert (run["success"], run["scores"]) == (False, {})
        assert run["error"] == "ValueError: this agent is broken"
    figures = written["summary"]["eval_fns"]["rewards:right"]
    assert figures["mean"] == figures["pass_at_1"] == pytest.approx(5 / 6)
    assert figures["min"] == 0.0
    assert written["summary"]["total_runs"] == 2 * ROWS


def test_an_eval_function_that_raises_is_0_in_the_documented_figures(project: Project, right: Server) -> None:
    command = project.command(right.base_url, "--n=2", eval_fn="rewards:fails_on_the_third")
    written = output(project, *command)
    third = written["rows"][2]["runs"]
    assert [(run["success"], run["scores"]) for run in third] == 2 * [
        (True, {"rewards:fails_on_the_third": 0.0})
    ]
    figures = written["summary"]["eval_fns"]["rewards:fails_on_the_third"]
    assert figures["mean"] == figures["pass_at_1"] == pytest.approx(5 / 6)


def test_and_is_counted_apart_in_the_summary(project: Project, right: Server) -> None:
    project.program.environment |= project.environment
    command = project.command(right.base_url, "--eval-fn=rewards:half", eval_fn="rewards:fails_on_the_third")
    summary: RunSummary = project.program.summary(*command)
    fails, half = summary.targets[0].scores
    assert summary.targets[0].statuses == {"grader_error": 1, "scored": 5}
    assert (fails.n, fails.n_scored, fails.grader_errors) == (6, 5, 1)
    assert fails.mean == pytest.approx(5 / 6)
    assert fails.mean_scored == 1.0
    assert (half.n_scored, half.grader_errors, half.mean) == (6, 0, 0.5), "the others are not touched"
    shown = project.run("show", summary.run, "--row", "2").stdout
    assert "KeyError: 'no such thing'" in shown


def test_a_run_that_stops_early_says_so(project: Project) -> None:
    written = output(project, *project.command(NOWHERE, "--no-probe", "--output-path=out"), code=1)
    summary = written["summary"]
    assert summary["stopped_early"] is True
    assert "Connection refused" in summary["stop_reason"]
    (row,) = written["rows"]
    assert row["runs"][0]["error"] == summary["stop_reason"]
    assert not (project.program.directory / "out").exists(), "only of what is completed"


# --output-path


def test_results_go_to_a_directory_of_their_model_and_dataset(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url, "--output-path=out", "--log-samples", model="My/Model"))
    (path,) = project.entries
    place = project.program.directory / "out" / "my-model" / "data"
    assert sorted(file.name for file in place.iterdir()) == [
        f"results_{path.stem}.json",
        f"samples_{path.stem}.jsonl",
    ]
    assert (place / f"results_{path.stem}.json").read_bytes() == path.read_bytes()
    assert (place / f"samples_{path.stem}.jsonl").read_bytes() == path.with_suffix(".jsonl").read_bytes()
    assert project.entry["status"] == "completed"


def test_without_logging_there_are_no_samples(project: Project, server: Server) -> None:
    project.run(*project.command(server.base_url, "--output-path=out"))
    assert len(list((project.program.directory / "out" / "m" / "data").iterdir())) == 1
    assert list(project.cache.rglob("*.jsonl")) == []


def test_the_cache_is_no_place_for_results(project: Project, server: Server) -> None:
    before = server.asked()
    ended = project.run(*project.command(server.base_url, "--output-path=cache/eval"), code=1)
    assert one_line_of(ended.stderr) == (
        "Error: --output-path is the cache's own directory (cache/eval); give another one."
    )
    assert server.asked() == before, "said before anything is asked"


# --log-samples


def test_conversations_are_logged_run_by_run(project: Project, server: Server, right: Server) -> None:
    baseline = ["--baseline-model=b", f"--baseline-base-url={right.base_url}"]
    project.run(*project.command(server.base_url, "--limit=2", "--n=2", "--log-samples", *baseline))
    (path,) = project.cache.rglob("*.jsonl")
    samples = read_lines(path)
    assert [(one["row_index"], one["model_tag"], one["run_index"]) for one in samples] == [
        (row, tag, run) for row in (0, 1) for tag in ("primary", "baseline") for run in (0, 1)
    ]
    for one in samples:
        assert list(one) == ["row_index", "run_index", "model_tag", "messages"]
        row, said = one["row_index"], target(one["row_index"])
        assert one["messages"] == [
            {"role": "system", "content": "s"},
            {"role": "user", "content": f"word{row}"},
            {"role": "assistant", "content": said if one["model_tag"] == "baseline" else f"word{row}"},
        ]


def test_a_resumed_log_is_complete(project: Project, server: Server) -> None:
    command = project.command(server.base_url)
    project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
    project.run(*command, "--log-samples")
    (path,) = project.cache.rglob("*.jsonl")
    assert [one["row_index"] for one in read_lines(path)] == list(range(ROWS))
    assert {one["model_tag"] for one in read_lines(path)} == {None}


def test_what_failed_without_a_conversation_is_not_in_the_log(project: Project, server: Server) -> None:
    project.program.write("broken", "")
    project.run(*project.command(server.base_url, "--log-samples"))
    (path,) = project.cache.rglob("*.jsonl")
    assert [one["row_index"] for one in read_lines(path)] == list(range(1, ROWS))


# bench


def test_a_finished_bench_is_run_anew(project: Project, server: Server) -> None:
    command = ["bench", *project.command(server.base_url)[1:]]
    first, before = output(project, *command), server.asked()
    second = output(project, *command)
    assert server.asked() - before == ROWS
    assert second["summary"]["eval_fns"] == first["summary"]["eval_fns"]
    assert list(second) == ["config", "summary", "rows"]
    assert len(project.entries) == len(project.program.runs) == 2
    assert "cache files of task" not in project.run(*command).stderr


def test_an_unfinished_bench_goes_on(project: Project, server: Server) -> None:
    command, before = ["bench", *project.command(server.base_url)[1:]], server.asked()
    project.stop(project.start_slowly(command, 2, server), signal.SIGINT)
    assert "Resuming eval (" in project.run(*command).stdout
    assert server.asked() - before == ROWS
    assert len(project.entries) == 1


def test_of_a_finished_bench_only_what_failed_is_tried_again(project: Project, server: Server) -> None:
    command = ["bench", *project.command(server.base_url)[1:]]
    project.program.write("broken", "")
    project.run(*command)
    (project.program.directory / "broken").unlink()
    before = server.asked()
    project.run(*command, "--retry-failed")
    assert server.asked() - before == 1
    assert all(run["success"] for run in project.entry["runs"])
