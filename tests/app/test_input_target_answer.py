"""Every trial knows what it was asked, what was expected, what it answered, and why it scored so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import knowing
from tests.app.compare_kit import Made, write_run
from tests.app.pack_kit import Packs, scenario
from tests.catalog.made_up_rows import WRITERS
from tests.simulated import simulated_endpoint

import benchwright
from benchwright.analysis.export import TrialRow
from benchwright.app.export import export
from benchwright.records import ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import BODIES_FILE, Journal, TrialBody, encode_json
from benchwright.runs.trial_prompt import MAX_SEARCHED_MESSAGES, read_input, stored_input

ROW = {"system_prompt": "Be brief.", "user_prompt": "The capital of France?", "ground_truth": "Paris"}
ANSWERS = [{"prompt": "capital", "answer": "It is Lyon."}]


def evaluated(program: Program, *more: str, row: dict[str, Any] = ROW, url: str = "") -> list[TrialRow]:
    """The trials of an evaluation of one row without any code."""
    program.write("rows.jsonl", json.dumps(row) + "\n")
    with simulated_endpoint(answers=ANSWERS) as base_url:
        program.run("eval", "-d", "rows.jsonl", "--model", "m", "--base-url", url or base_url, *more)
    (run,) = program.runs
    return list(benchwright.load_run(str(run)).trials)


def test_rows_of_an_evaluation_have_question_target_answer_and_reason(program: Program) -> None:
    (trial,) = evaluated(program, "--scorer", "exact")
    assert (trial.input, trial.target) == ("The capital of France?", "Paris")
    assert trial.answer == "It is Lyon."
    assert trial.explanation == "Taken as the answer: It is Lyon.\nExpected: Paris"


def test_the_input_is_not_what_a_template_puts_around_it(program: Program) -> None:
    (trial,) = evaluated(program, "--scorer", "exact", "--template", "Answer in one word. {prompt}")
    assert trial.input == "The capital of France?"


def test_several_scorers_explain_themselves_by_name(program: Program) -> None:
    program.write("mine.py", "def strict(answer):\n    raise ValueError(answer)\n")
    (trial,) = evaluated(program, "--scorer", "exact", "--scorer", "mine:strict")
    assert trial.explanation is not None
    assert "exact: Taken as the answer: It is Lyon." in trial.explanation
    assert "strict: The grader failed: " in trial.explanation


def test_what_is_not_one_number_is_explained(program: Program) -> None:
    row = {**ROW, "ground_truth": "7"}
    with simulated_endpoint(answers=[{"prompt": "capital", "answer": "It is on 2024-05-07."}]) as url:
        (trial,) = evaluated(program, "--scorer", "numeric", row=row, url=url)
    assert trial.explanation is not None
    assert "the answer comes to a date, not to one number" in trial.explanation


def test_a_judge_explains_its_score_in_its_own_words(program: Program) -> None:
    with simulated_endpoint(
        answers=[{"prompt": "capital", "answer": "It is Paris, not Lyon.\nSCORE: 0"}]
    ) as judge:
        (trial,) = evaluated(program, "--scorer", "judge", "--judge-model", "j", "--judge-base-url", judge)
    assert trial.explanation == "It is Paris, not Lyon.\nSCORE: 0"


def test_a_trial_that_failed_knows_its_question_and_target(program: Program) -> None:
    (trial,) = evaluated(program, "--scorer", "exact", "--no-probe", "--retries", "0", url=NOWHERE)
    assert (trial.status, trial.input, trial.target) == ("provider_error", "The capital of France?", "Paris")


def test_a_prompt_that_is_the_question_is_stored_once(program: Program) -> None:
    evaluated(program, "--scorer", "exact")
    (run,) = program.runs
    assert (run / BODIES_FILE).read_text().count("The capital of France?") == 1


def test_a_key_in_a_row_is_in_no_file_of_the_run(program: Program) -> None:
    key = "sk-one-two-three-0123456789"
    row = ROW | {"user_prompt": f"The capital of France? {key}", "ground_truth": f"Paris {key}"}
    (trial,) = evaluated(program, "--scorer", "exact", "--api-key", key, row=row)
    assert (trial.input, trial.target) == ("The capital of France? [secret]", "Paris [secret]")
    (run,) = program.runs
    assert not any(key in file.read_text() for file in run.iterdir() if file.is_file())


def test_workers_keep_the_same(program: Program) -> None:
    path = program.directory / "data" / "mmlu_pro"
    WRITERS["mmlu_pro"](path)
    with knowing("mmlu_pro", path) as base_url:
        program.run("--base-url", base_url, "--model", "m", "run", "mmlu_pro", "--workers", "2")
    (run,) = program.runs
    trials = list(benchwright.load_run(str(run)).trials)
    assert {(trial.input or "").splitlines()[0] for trial in trials} == {
        f"Which of the ten, {number}?" for number in range(4)
    }
    assert sorted(trial.target or "" for trial in trials) == ["A", "B", "C", "D"]


def test_a_packs_cell_knows_its_scenario_and_what_the_pack_says_of_it(program: Program, echo: str) -> None:
    packs = Packs(program)
    card = {"title": "Success case", "content": "Says 42."}
    packs.run(
        packs.pack("pack", scenarios=[scenario("A-01", promptText="Say 42.", detailCards=[card])]), echo
    )
    (run,) = program.runs
    (trial,) = benchwright.load_run(str(run)).trials
    assert (trial.input, trial.target) == ("Say 42.", "Says 42.")
    assert trial.explanation


class TestJournalsOfEarlierVersions:
    """They hold neither input nor target: what stands nearest is shown in their place."""

    def test_the_first_thing_that_the_user_said_is_the_input(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", [Made("0", 1.0, asked="Who?", answer="Ada.")])
        (trial,) = benchwright.load_run(str(run)).trials
        assert (trial.input, trial.target, trial.answer) == ("Who?", None, "Ada.")

    def test_what_the_score_says_was_expected_is_the_target(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", [])
        journal = Journal(run)
        journal.write_trial(
            TrialRecord("f" * 32, "0", "primary", Status.ANSWERED), encode_json(TrialBody("f" * 32))
        )
        journal.write_lines(ScoreRecord("s", "f" * 32, "exact", 0.0, span="B", detail={"expected": "C"}))
        journal.close()
        (trial,) = benchwright.load_run(str(run)).trials
        assert (trial.target, trial.explanation) == ("C", "Taken as the answer: B\nExpected: C")

    def test_a_trial_whose_conversation_was_lost_still_has_a_row(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", [Made("0", 1.0, span="42"), Made("1", 1.0)])
        first, second = (run / BODIES_FILE).read_bytes().splitlines(keepends=True)
        (run / BODIES_FILE).write_bytes(b"x" * (len(first) - 1) + b"\n" + second)
        lost, kept = benchwright.load_run(str(run)).trials
        assert (lost.input, lost.answer, lost.explanation) == (None, None, "Taken as the answer: 42")
        assert kept.input == "question 1"


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_every_export_has_them(tmp_path: Path, form: str) -> None:
    run = write_run(tmp_path / "run", [Made("0", 1.0, asked="Who?", answer="Ada.", span="Ada")])
    path = tmp_path / f"out.{form}"
    export(str(run), "trials", path)
    content = path.read_bytes()
    for name in ("input", "target", "answer", "explanation"):
        assert name.encode() in content
    assert b"Who?" in content
    assert b"Taken as the answer: Ada" in content


def test_show_begins_with_them(program: Program) -> None:
    evaluated(program, "--scorer", "exact")
    (run,) = program.runs
    head, _, conversation = program.run("show", str(run), "--row", "0").stdout.partition("\nsystem\n")
    assert [line.split()[0] for line in head.splitlines()[1:] if line[:1].strip()] == [
        "Input", "Expected", "Answer", "Score", "Why",
    ]  # fmt: skip
    assert "The capital of France?" in head
    assert "Paris" in head
    assert "The capital of France?" in conversation
    (attempt,) = json.loads(program.run("show", str(run), "--row", "0", "--json").stdout)["attempts"]
    assert attempt["gist"]["target"] == "Paris"


@given(st.text(), st.lists(st.text(), max_size=2 * MAX_SEARCHED_MESSAGES))
def test_an_input_is_read_as_it_was_written(text: str, contents: list[str]) -> None:
    messages = [{"role": "user", "content": content} for content in contents]
    kept = stored_input(text, messages)
    assert read_input(kept, messages) == text
    assert isinstance(kept, int) == (text in contents[:MAX_SEARCHED_MESSAGES])


def test_fields_that_are_not_known_do_not_make_old_programs_fail() -> None:
    class OldBody(msgspec.Struct):
        key: str
        answer: str = ""

    encoded = encode_json(TrialBody("k", input=1, target="t", answer="a"))
    assert msgspec.json.decode(encoded, type=OldBody).answer == "a"
