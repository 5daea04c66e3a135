"""Exports and `load_run`: one row per trial or request, the same names everywhere."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.app_kit import Program
from tests.app.compare_kit import Made, made, write_run
from tests.app.eval_kit import Server

import benchwright
from benchwright.app.export import export
from benchwright.errors import UserError
from benchwright.records import RequestRecord, ScoreRecord, Status, TrialRecord
from benchwright.runs.journal import Journal
from benchwright.runs.table import read_table
from benchwright.text import FORMULA_PREFIXES, escape_formula

TRIALS = [
    Made("0", 1.0, span="42", group="sums"),
    Made("1", None, repeat=1, ttft=None),
    Made("2", failed=Status.PROVIDER_ERROR),
    Made("2", 0.5, attempt=1, latency=2.5),
]


@pytest.fixture
def run(tmp_path: Path) -> str:
    return str(write_run(tmp_path / "run", TRIALS))


class TestLoadRun:
    def test_a_trial_is_its_last_attempt(self, run: str) -> None:
        rows = list(benchwright.load_run(run).trials)
        assert [(row.sample, row.repeat, row.attempt, row.status) for row in rows] == [
            ("0", 0, 0, "scored"),
            ("1", 1, 0, "unparsed"),
            ("2", 0, 1, "scored"),
        ]
        assert [row.scores["exact"] for row in rows] == [1.0, None, 0.5]
        assert (rows[0].spans, rows[0].group, rows[0].model) == ({"exact": "42"}, "sums", "model")
        assert (rows[2].duration_seconds, rows[2].completion_tokens) == (2.5, 5)
        assert rows[0].started_at == "2027-01-15T08:00:00+00:00"

    def test_a_request_is_there_for_every_attempt(self, run: str) -> None:
        rows = list(benchwright.load_run(run).requests)
        assert [(row.sample, row.attempt, row.error) for row in rows] == [
            ("0", 0, None),
            ("1", 0, None),
            ("2", 0, "HTTP 500"),
            ("2", 1, None),
        ]
        assert [row.ttft_seconds for row in rows] == [0.1, None, None, 0.1]
        assert rows[3].total_latency_seconds == 2.5

    def test_requests_of_a_judge_are_those_of_the_attempt_that_it_graded(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "run", TRIALS)
        (second,) = read_table(run).sample.rows_of("2")
        key = read_table(run).read_trial(second).record.key
        journal = Journal(run)
        judged = ScoreRecord(
            "late", key, "judge", 1.0, requests=[RequestRecord("j", role="judge", slot="judge")]
        )
        journal.write_lines(
            judged, ScoreRecord("lost", "0" * 32, "judge", requests=[RequestRecord("k", role="judge")])
        )
        journal.close()
        rows = [row for row in benchwright.load_run(str(run)).requests if row.role == "judge"]
        assert [(row.request_id, row.sample, row.repeat, row.attempt) for row in rows] == [
            ("j", "2", 0, 1),
            ("k", None, None, None),
        ]

    def test_a_run_that_goes_on_has_its_new_rows(self, run: str) -> None:
        trials = benchwright.load_run(run).trials
        before = len(list(trials))
        journal = Journal(Path(run))
        journal.write_trial(TrialRecord("f" * 32, "9", "primary", Status.REFUSED), b"{}")
        journal.close()
        assert len(list(trials)) == before + 1

    def test_rows_can_be_gone_through_again(self, run: str) -> None:
        trials = benchwright.load_run(run).trials
        assert list(trials) == list(trials)

    def test_the_flat_rows_have_the_columns(self, run: str) -> None:
        loaded = benchwright.load_run(run)
        for rows in (loaded.trials, loaded.requests):
            columns = dict(rows.columns)
            for row in rows.to_dicts():
                assert list(row) == list(columns)
                for name, value in row.items():
                    assert value is None or isinstance(value, columns[name]), name

    def test_the_summary_is_that_of_show(self, run: str) -> None:
        assert benchwright.load_run(run).summary().targets[0].trials == 3

    def test_what_is_no_run_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        with pytest.raises(UserError, match="There is no run 'last'"):
            benchwright.load_run("last")


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pyarrow.parquet.read_table(path).to_pylist()
        return rows
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class TestFiles:
    @pytest.mark.parametrize("what", ["trials", "requests"])
    @pytest.mark.parametrize("form", ["jsonl", "parquet"])
    def test_what_is_written_is_what_python_gets(
        self, run: str, tmp_path: Path, what: str, form: str
    ) -> None:
        path = tmp_path / f"out.{form}"
        count = export(run, what, path)
        rows = read(path)
        assert rows == list(getattr(benchwright.load_run(run), what).to_dicts())
        assert len(rows) == count == {"trials": 3, "requests": 4}[what]

    def test_csv_has_the_same_with_empty_cells_for_nothing(self, run: str, tmp_path: Path) -> None:
        export(run, "trials", tmp_path / "out.csv")
        rows = read(tmp_path / "out.csv")
        assert [row["score.exact"] for row in rows] == ["1.0", "", "0.5"]
        assert list(rows[0]) == [name for name, _ in benchwright.load_run(run).trials.columns]

    def test_columns_of_an_empty_run_are_typed(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", []))
        export(run, "trials", tmp_path / "out.parquet")
        schema = pyarrow.parquet.read_schema(tmp_path / "out.parquet")
        assert str(schema.field("score.exact").type) == "double"
        assert str(schema.field("repeat").type) == "int64"
        assert str(schema.field("reused").type) == "bool"

    def test_many_batches_are_one_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("benchwright.app.export.ROW_GROUP_SIZE", 7)
        run = str(write_run(tmp_path / "run", made([1.0] * 30)))
        assert export(run, "requests", tmp_path / "out.parquet") == 30
        assert pyarrow.parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 5

    @pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
    def test_an_export_that_fails_leaves_what_was_there(self, tmp_path: Path, form: str) -> None:
        run = write_run(tmp_path / "run", made([1.0] * 3))
        path = tmp_path / f"out.{form}"
        path.write_text("before")
        lines = (run / "trials.jsonl").read_text().splitlines(keepends=True)
        (run / "trials.jsonl").write_text("".join([*lines[:3], "broken\n", *lines[3:]]))
        with pytest.raises(benchwright.errors.JournalError, match="line 4"):
            export(str(run), "trials", path)
        assert path.read_text() == "before"
        assert sorted(file.name for file in tmp_path.iterdir()) == [path.name, "run"]

    @pytest.mark.parametrize(("name", "told"), [("out", "has no suffix"), ("out.xlsx", "give --format")])
    def test_a_format_that_is_unknown_is_told(self, run: str, tmp_path: Path, name: str, told: str) -> None:
        with pytest.raises(UserError, match=told):
            export(run, "trials", tmp_path / name)


class TestFormulas:
    HOSTILE = ['=HYPERLINK("http://evil.example","x")', "+1", "-2+3", "@SUM(A1)", "\t=1", "＝1", "  =1"]

    @pytest.mark.parametrize("text", HOSTILE)
    def test_text_that_looks_like_one_is_defused(self, tmp_path: Path, text: str) -> None:
        run = str(write_run(tmp_path / "run", [Made(text, 1.0, span=text)]))
        export(run, "trials", tmp_path / "out.csv")
        (row,) = read(tmp_path / "out.csv")
        assert (row["sample"], row["span.exact"]) == (f"'{text}", f"'{text}")

    @given(st.text())
    def test_no_cell_begins_like_one(self, text: str) -> None:
        cell = escape_formula(text)
        assert not cell.lstrip(" ").startswith(FORMULA_PREFIXES)
        assert cell.removeprefix("'") == text.removeprefix("'")

    def test_negative_numbers_stay_numbers(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", made([-0.5])))
        export(run, "trials", tmp_path / "out.csv")
        assert read(tmp_path / "out.csv")[0]["score.exact"] == "-0.5"

    def test_other_formats_keep_the_text(self, tmp_path: Path) -> None:
        run = str(write_run(tmp_path / "run", [Made("=1+1")]))
        export(run, "trials", tmp_path / "out.jsonl")
        assert read(tmp_path / "out.jsonl")[0]["sample"] == "=1+1"


def test_on_the_command_line(program: Program, server: Server) -> None:
    ended = program.run(*program.evaluating(program.rows(5), server.base_url, "--n", "2"))
    assert ended.returncode == 0, ended.stderr
    run = program.only_run
    for form in ("csv", "jsonl", "parquet"):
        ended = program.run("export", run.name[:12], "--what", "requests", "-o", f"out.{form}")
        assert ended.returncode == 0, ended.stderr
        assert re.search(r"10 requests written to out\.", ended.stderr)
        rows = read(program.directory / f"out.{form}")
        assert all(float(row["ttft_seconds"]) > 0 for row in rows)
    assert program.run("export", run.name, "--format", "xml", "-o", "x").returncode == 2
