"""`export --format eee`: figures and samples as Every Eval Ever asks for them. tests/readers.py has its own validator
read them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run

from benchwright.analysis.export.counted_trials import CountedTrial
from benchwright.analysis.export.every_eval_ever_rows import GradedScore, score_rows_of
from benchwright.analysis.summary import summary_of
from benchwright.records import Message, RequestRecord, Status, Target, TrialRecord, Usage
from benchwright.runs.attempts import ScoredTrial
from benchwright.runs.journal import TrialBody
from benchwright.runs.manifest import read_manifest

TRIALS = [
    Made("a/1", 1.0, span="42", group="sums", usage=Usage(100, 5, 60, 2)),
    Made("b", None),
    Made("c", 0.0),
    Made("e", failed=Status.EXECUTION_ERROR),
    Made("g", failed=Status.REFUSED),
]


def exported(program: Program, *options: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures and the rows of the run `run-1`."""
    ended = program.run("export", "run-1", "--format", "eee", *options, "-o", "out")
    assert ended.returncode == 0, ended.stderr
    (figures,) = Path(program.directory, "out").rglob("*.json")
    rows = figures.with_name(f"{figures.stem}_samples.jsonl").read_text().splitlines()
    return json.loads(figures.read_text()), [json.loads(row) for row in rows]


def test_the_figure_is_the_mean_of_the_rows_without_an_error(program: Program) -> None:
    run = write_run(program.home / "runs" / "run-1", TRIALS)
    figures, rows = exported(program)
    (result,) = figures["evaluation_results"]
    values = [row["evaluation"]["score"] for row in rows if "error" not in row]
    assert result["score_details"]["score"] == sum(values) / len(values) == 0.25
    (score,) = summary_of(run).targets[0].scores
    assert result["score_details"]["score"] == score.mean_scored
    assert result["score_details"]["uncertainty"]["confidence_interval"]["lower"] == score.low
    assert result["score_details"]["details"]["failed"] == "1"


def test_only_what_failed_has_an_error(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", TRIALS)
    _, rows = exported(program)
    assert {row["sample_id"]: row.get("error") for row in rows} == {
        "a/1": None,
        "b": None,
        "c": None,
        "e": "execution_error",
        "g": None,
    }
    assert {row["sample_id"]: row["metadata"]["status"] for row in rows}["g"] == "refused"


def test_rows_belong_to_their_figures(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", TRIALS)
    figures, rows = exported(program)
    (result,) = figures["evaluation_results"]
    assert {row["evaluation_result_id"] for row in rows} == {result["evaluation_result_id"]}
    assert {row["evaluation_name"] for row in rows} == {result["evaluation_name"]}
    assert {row["evaluation_id"] for row in rows} == {figures["evaluation_id"]}
    assert figures["detailed_evaluation_results"]["total_rows"] == len(rows)


def test_files_lie_where_the_datastore_looks_for_them(program: Program) -> None:
    target = Target("primary", "org/model 7B", "http://127.0.0.1:9/v1")
    write_run(program.home / "runs" / "run-1", made([1.0, 0.0]), targets=[target])
    figures, _ = exported(program)
    path = figures["detailed_evaluation_results"]["file_path"]
    folder, _, name = path.rpartition("/")
    assert folder == "data/questions/org/model 7B"
    assert re.fullmatch(
        r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_samples\.jsonl", name
    )
    assert Path(program.directory, "out", path).exists()
    assert figures["model_info"]["developer"] == "org"


def test_a_model_without_a_developer_takes_the_one_that_is_given(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", made([1.0, 0.0]))
    figures, _ = exported(program, "--developer", "our-lab")
    assert figures["model_info"]["developer"] == "our-lab"
    assert "/our-lab/model/" in figures["detailed_evaluation_results"]["file_path"]


def test_written_again_it_has_the_same_names(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", made([1.0, 0.0]))
    exported(program)
    exported(program)


def test_a_run_without_scores_is_refused(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", [Made("a", failed=Status.PROVIDER_ERROR)])
    ended = program.run("export", "run-1", "--format", "eee", "-o", "out")
    assert ended.returncode == 1
    assert "has no score" in ended.stderr


def test_a_developer_is_for_this_format_only(program: Program) -> None:
    write_run(program.home / "runs" / "run-1", made([1.0]))
    ended = program.run("export", "run-1", "--format", "inspect", "--developer", "x", "-o", "out")
    assert ended.returncode == 2
    assert "--format eee" in ended.stderr


CALL = {"id": "call-1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": "x"}'}}
CONVERSATION: list[Message] = [
    {"role": "user", "content": "1 + 1?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL], "reasoning_content": "I must add."},
    {"role": "tool", "content": "2", "tool_call_id": "call-1"},
    {"role": "assistant", "content": "It is 2."},
]


def row(tmp_path: Path, messages: list[Message], record: TrialRecord | None = None) -> dict[str, Any]:
    record = record or TrialRecord("k", "s", "primary", Status.SCORED, scores={"exact": 1.0})
    manifest = read_manifest(write_run(tmp_path / "run", made([1.0])))
    counted = CountedTrial(
        "run", 0, ScoredTrial(record, {}), TrialBody("k", messages=messages, answer="It is 2.")
    )
    (found,) = score_rows_of(counted, [GradedScore.from_score(manifest, "exact", "r")], "e", "m")
    return found


def test_a_conversation_with_tools_is_agentic_and_has_its_calls(tmp_path: Path) -> None:
    found = row(tmp_path, CONVERSATION)
    assert found["interaction_type"] == "agentic"
    assert "output" not in found
    assert found["messages"][1]["tool_calls"] == [
        {"id": "call-1", "name": "add", "arguments": {"a": "1", "b": "x"}}
    ]
    assert found["messages"][1]["reasoning_trace"] == "I must add."
    assert found["messages"][2]["tool_call_id"] == ["call-1"]
    assert found["evaluation"] == {
        "score": 1.0,
        "is_correct": True,
        "num_turns": 2,
        "tool_calls_count": 1,
    }


def test_a_question_and_an_answer_are_a_single_turn(tmp_path: Path) -> None:
    found = row(tmp_path, [CONVERSATION[0], CONVERSATION[3]])
    assert found["interaction_type"] == "single_turn"
    assert found["output"]["raw"] == ["It is 2."]
    assert "messages" not in found


@pytest.mark.parametrize("usage", [Usage(), Usage(prompt_tokens=3)])
def test_tokens_that_no_server_told_are_left_out(tmp_path: Path, usage: Usage) -> None:
    record = TrialRecord(
        "k", "s", "primary", Status.SCORED, scores={"exact": 1.0}, requests=[RequestRecord("1", usage=usage)]
    )
    assert "token_usage" not in row(tmp_path, CONVERSATION, record)
