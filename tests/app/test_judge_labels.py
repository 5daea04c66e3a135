"""People's labels of judged answers: drawn, filled in, taken in; the corrected score and its refusal, at every door."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from tests.app.app_kit import Program, one_line_of
from tests.app.judge_kit import (
    JudgeServer,
    answer_to,
    judge_server,
    judging,
    label_form,
    read_form,
    write_questions,
)

import benchwright
from benchwright.runs.manifest import read_manifest
from benchwright.runs.table import read_table
from benchwright.web.figures import compute_figures

ROWS = 200


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeServer]:
    with judge_server() as server:
        yield server


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, judge: JudgeServer) -> Path:
    """200 answers of which 140 are right, and 160 by the judge; 100 of them drawn to be labelled.

    They are made one after another, since the draw depends on the order in which they end.
    """
    program = Program(tmp_path_factory.mktemp("judged"))
    write_questions(program, ROWS)
    assert program.run(*judging(judge.base_url), "--concurrency", "1").returncode == 0
    assert program.run("judge", "sample", program.only_run.name, "-n", "100").returncode == 0
    return program.directory


@pytest.fixture
def program(tmp_path: Path, judged: Path) -> Iterator[Program]:
    """A copy of it that lies in the place of the original, for runs know where they were started."""
    shutil.copytree(judged, tmp_path / "copy")
    program = Program(tmp_path / "copy")
    (run,) = program.runs
    manifest = (run / "run.json").read_text()
    (run / "run.json").write_text(manifest.replace(str(judged), str(program.directory)))
    yield program
    program.end()


def form(program: Program) -> Path:
    return program.directory / "labels.csv"


def certificate(program: Program, *more: str) -> dict[str, Any]:
    """The certificate once the labels in the form are taken in."""
    ended = program.run("judge", "labels", program.only_run.name, "labels.csv", "-q", "--json", *more)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)["targets"][0]["scores"][0]["certificate"]
    return found


def test_a_form_holds_answers_and_no_verdicts(program: Program) -> None:
    rows = read_form(form(program))
    assert len({row["trial"] for row in rows}) == 100
    assert set(rows[0]) == {"trial", "attempt", "sample", "question", "expected", "answer", "label"}
    first = rows[0]
    number = first["sample"].removeprefix("q")
    assert (first["question"], first["expected"], first["label"]) == (
        f"Question {number}",
        f"right {number}",
        "",
    )


def test_a_form_that_is_there_is_not_overwritten(program: Program) -> None:
    ended = program.run("judge", "sample", program.only_run.name)
    assert ended.returncode == 1
    assert "labels.csv is there already" in one_line_of(ended.stderr)


def test_labels_of_its_own_answers_correct_the_score(program: Program) -> None:
    label_form(form(program), read_form(form(program)))
    found = certificate(program)
    assert found["raw"] == 0.8
    assert found["corrected"]["mean"] == pytest.approx(0.7, abs=0.06)
    assert found["corrected"]["low"] < 0.7 < found["corrected"]["high"] < 0.8
    assert found["corrected"]["method"] == "post-stratified"
    assert found["agreement"]["sensitivity"][0] == 1.0


def test_kept_labels_that_are_broken_are_named_in_one_line(program: Program) -> None:
    label_form(form(program), read_form(form(program)))
    certificate(program)
    (directory,) = program.runs
    (directory / "judge_labels.json").write_text("{")
    ended = program.run("show", program.only_run.name)
    assert ended.returncode == 1
    assert "judge_labels.json cannot be read" in one_line_of(ended.stderr)


def test_every_door_shows_the_same_corrected_score(program: Program) -> None:
    label_form(form(program), read_form(form(program)))
    one = certificate(program)["corrected"]
    told = (
        f"judge: corrected {one['mean']:.3f} [{one['low']:.3f}, {one['high']:.3f}], 0.800 by the judge alone"
    )
    run = program.only_run.name
    assert told in " ".join(program.run("show", run).stdout.split())
    (directory,) = program.runs
    viewed = compute_figures(read_manifest(directory), read_table(directory, effort=True))
    assert any(note.startswith(told) for note in viewed.targets[0].notes)
    assert program.run("report", run, "-o", "report.html").returncode == 0
    assert told in " ".join((program.directory / "report.html").read_text().split())


def test_who_judged_is_part_of_the_result(program: Program) -> None:
    shown = json.loads(program.run("show", program.only_run.name, "--json").stdout)
    found = shown["targets"][0]["scores"][0]["judge"]
    assert (found["model"], found["settings"], len(found["prompt"])) == ("judge", {"temperature": 0}, 32)
    trial = json.loads(program.run("show", program.only_run.name, "--sample", "q3", "--json").stdout)
    assert json.dumps(found["prompt"]) in json.dumps(trial)


def test_labels_between_right_and_wrong_are_prediction_powered(program: Program) -> None:
    rows = read_form(form(program))
    write_csv(
        form(program), [{**row, "label": 0.9 if row["answer"].startswith("right") else 0.1} for row in rows]
    )
    found = certificate(program)
    assert found["corrected"]["method"] == "prediction-powered"
    assert found["corrected"]["low"] < 0.7 * 0.9 + 0.3 * 0.1 < found["corrected"]["high"]


def test_labels_by_which_the_judge_knows_nothing_are_refused(program: Program) -> None:
    rows = [{"sample": f"q{n}", "answer": f"right {n + 1000}", "label": n % 2} for n in range(80)]
    write_csv(form(program), rows)
    assert "do not show that the judge knows right from wrong" in certificate(program)["refusal"]


def test_too_few_labels_are_refused(program: Program) -> None:
    label_form(form(program), read_form(form(program))[:49])
    found = certificate(program)
    assert "corrected" not in found or found["corrected"] is None
    assert found["refusal"] == "49 labels; at least 50 are needed"


def test_labels_that_were_not_drawn_at_random_are_refused(program: Program) -> None:
    rows = read_form(form(program))
    picked = sorted(rows, key=lambda row: row["answer"].startswith("right"), reverse=True)[:60]
    label_form(form(program), picked)
    assert "not drawn at random" in certificate(program)["refusal"]


def test_the_judge_is_asked_about_answers_from_elsewhere(program: Program, judge: JudgeServer) -> None:
    rows = [
        {"sample": f"q{n}", "answer": f"{'right' if n % 2 else 'wrong'} {n + 1000}", "label": ""}
        for n in range(120)
    ]
    label_form(form(program), rows)
    before = len(judge.judged)
    found = certificate(program)
    assert len(judge.judged) - before == 120
    assert (found["other"], found["corrected"]["method"]) == (120, "rogan-gladen")
    assert found["corrected"]["low"] < 0.8 < found["corrected"]["high"]
    assert certificate(program) == found
    assert len(judge.judged) - before == 120, "what was asked once is not asked again"


def test_a_label_of_an_answer_that_was_replaced_is_left_out(program: Program) -> None:
    rows = read_form(form(program))
    rows[0]["attempt"] = "1"
    label_form(form(program), rows)
    found = certificate(program)
    assert (found["own"], found["left_out"]) == (99, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("trial,label\nnobody,1\n", "The run has no trial nobody with a verdict."),
        ("trial,label\na,7\n", "label '7' is not a number from 0 to 1, yes or no."),
        ("sample,label\nq1,1\n", "row 1: give the `trial`, or `sample` and `answer`."),
        ("trial,label\na,\n", "has no labels"),
        ("trial,label\na,1\na,0\n", "two labels of one answer"),
        ("sample,answer,label\nq999,x,1\n", "has no sample 'q999'"),
    ],
)
def test_what_is_wrong_with_labels_is_told_in_one_line(program: Program, text: str, told: str) -> None:
    program.write("labels.csv", text)
    ended = program.run("judge", "labels", program.only_run.name, "labels.csv", "-q")
    assert ended.returncode == 1
    assert told in one_line_of(ended.stderr)


def test_labels_go_with_a_run(tmp_path: Path, judge: JudgeServer) -> None:
    program = Program(tmp_path)
    write_questions(program, 60)
    rows = [
        {"sample": f"q{n}", "answer": f"{'right' if n % 10 < 7 else 'wrong'} {n}", "label": ""}
        for n in range(60)
    ]
    label_form(form(program), rows)
    summary = program.summary(*judging(judge.base_url, "--judge-labels", "labels.csv"))
    found = summary.targets[0].scores[0].certificate
    assert found is not None
    assert found.corrected is not None
    assert found.corrected.mean == pytest.approx(0.7)
    program.end()


def test_labels_go_with_a_benchmark_and_into_its_result_file(tmp_path: Path, judge: JudgeServer) -> None:
    program = Program(tmp_path)
    rows = [{"original_index": n, "problem": f"Question {n}", "answer": f"right {n}"} for n in range(60)]
    ended = run_labelled_benchmark(program, judge, rows)
    assert ended.returncode == 0, ended.stderr
    (result,) = map(json.loads, map(Path.read_text, tmp_path.glob("results/*.json")))
    assert result["accuracy"] == 0.8
    assert result["certificate"]["corrected"]["mean"] == pytest.approx(0.7)
    assert result["judge"]["model"] == result["sample_results"][0]["details"]["judge"] == "judge"
    assert result["sample_results"][0]["details"]["judge_prompt"] == result["judge"]["prompt"]
    checked = program.run("judge", "check", program.only_run.name, "-n", "10", "-q", "--json")
    assert json.loads(checked.stdout)["left_out"]["answer first"].startswith(
        "the prompt is the benchmark's own"
    )
    program.end()


def test_labels_of_one_topic_are_refused(tmp_path: Path, judge: JudgeServer) -> None:
    program = Program(tmp_path)
    rows = [
        {
            "original_index": n,
            "problem": f"Question {n}",
            "answer": f"right {n}",
            "topic": "Art" if n < 60 else "Music",
        }
        for n in range(120)
    ]
    ended = run_labelled_benchmark(program, judge, rows)
    assert "not corrected: all labelled answers have topic Art" in " ".join(ended.stdout.split())
    program.end()


def run_labelled_benchmark(
    program: Program, judge: JudgeServer, rows: list[dict[str, Any]]
) -> CompletedProcess[str]:
    """Runs simpleqa_verified over these rows, with labels for the answers to the first 60."""
    path = program.directory / "data" / "simpleqa_verified" / "simpleqa_verified.csv"
    path.parent.mkdir(parents=True)
    write_csv(path, rows)
    labels = [
        {"sample": f"simpleqa_{n}", "answer": answer_to(n), "label": int(n % 10 < 7)} for n in range(60)
    ]
    write_csv(form(program), labels)
    return program.run("run", "simpleqa_verified", "--model", "m", "--base-url", judge.base_url, "--no-stream",
                       "--option", "judge_model=judge", "--judge-labels", "labels.csv", "-q")  # fmt: skip


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_labels_go_with_a_call_from_python(
    tmp_path: Path, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OSMOSIS_CACHE_DIR", str(tmp_path / "cache"))
    questions = [{"prompt": f"Question {n}", "answer": f"right {n}", "id": f"q{n}"} for n in range(60)]
    answers = [{"sample": f"q{n}", "answer": answer_to(n), "label": int(n % 10 < 7)} for n in range(60)]
    write_csv(tmp_path / "labels.csv", answers)
    found = benchwright.evaluate(
        questions,
        scorer="judge",
        model="m",
        base_url=judge.base_url,
        judge_model="judge",
        judge_labels=tmp_path / "labels.csv",
        stream=False,
    )
    certificate = found.summary.targets[0].scores[0].certificate
    assert certificate is not None
    assert certificate.corrected is not None
    assert certificate.corrected.mean == pytest.approx(0.7)
