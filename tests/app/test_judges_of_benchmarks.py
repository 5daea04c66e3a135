"""Benchmarks whose judge has a prompt of its own: every result says who judged and how, and people can check it."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.app.app_kit import Program
from tests.app.judge_kit import judge_server, label_form, read_form

ROWS = 60


def multichallenge(directory: Path) -> None:
    """Conversations whose last message is question n."""
    said = [{"role": "user", "content": "I eat no nuts."}, {"role": "assistant", "content": "Noted."}]
    rows = (
        {
            "QUESTION_ID": f"q{n}",
            "AXIS": "INFERENCE_MEMORY",
            "CONVERSATION": [*said, {"role": "user", "content": f"Question {n}"}],
            "TARGET_QUESTION": "Is it right?",
            "PASS_CRITERIA": "YES",
        }
        for n in range(ROWS)
    )
    (directory / "benchmark_questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def aa_lcr(directory: Path) -> None:
    """Questions about one document."""
    with (directory / "AA-LCR_Dataset.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["document_category", "document_set_id", "question_id", "question", "answer",
                         "data_source_filenames"])  # fmt: skip
        writer.writerows(["Legal", "acts", n, f"Question {n}", f"right {n}", "act.txt"] for n in range(ROWS))
    (directory / "extracted_text").mkdir()
    with zipfile.ZipFile(directory / "extracted_text" / "AA-LCR_extracted-text.zip", "w") as archive:
        archive.writestr("lcr/Legal/acts/act.txt", "An act.")


@pytest.mark.parametrize("lay", [multichallenge, aa_lcr])
def test_its_judge_can_be_checked_and_labelled(lay: Callable[[Path], None], tmp_path: Path) -> None:
    program = Program(tmp_path)
    name = lay.__name__
    (tmp_path / "rows").mkdir()
    lay(tmp_path / "rows")
    with judge_server() as server:
        ended = program.run("run", name, "--model", "m", "--base-url", server.base_url, "--no-stream", "-q",
                            "--option", "judge_model=judge", "--option", "path=rows")  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        (result,) = map(json.loads, map(Path.read_text, tmp_path.glob("results/*.json")))
        details = result["sample_results"][0]["details"]
        assert details["judge"] == result["judge"]["model"] == "judge"
        assert details["judge_prompt"] == result["judge"]["prompt"]
        run = program.only_run.name
        assert program.run("judge", "sample", run, "-n", "50", "-o", "form.csv").returncode == 0
        form = read_form(tmp_path / "form.csv")
        assert "Question" in form[0]["question"]
        label_form(tmp_path / "form.csv", form)
        checked = program.run("judge", "check", run, "-n", "10", "-q", "--json")
        assert checked.returncode == 0, checked.stderr
        again = program.run("judge", "labels", run, "form.csv", "-q")
        assert again.returncode == 0, again.stderr
    program.end()
