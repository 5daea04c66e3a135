"""A leaderboard in every format: it fits, it says the same, and foreign text in it is text."""

from __future__ import annotations

import csv
import io
import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.app.compare_kit import made, write_run

from benchwright.analysis.leaderboard.board import BoardEntry, build_leaderboard
from benchwright.analysis.leaderboard.records import BoardColumn, BoardRow, Leaderboard, LeaderboardCell
from benchwright.cli.output import table_text
from benchwright.records import Target
from benchwright.reports.html.leaderboard import render_leaderboard
from benchwright.reports.leaderboard.formats import escape_latex, render_csv, render_latex, render_markdown
from benchwright.reports.leaderboard.text import render_board
from benchwright.runs.manifest import DataFile

HOSTILE = "=cmd|'/c' \x1b[31m</td><script>alert(1)</script> | `x` @someone \\input{x} $%&#_{}~^ \u202e\n"


def cell(mean: float, **changes: object) -> LeaderboardCell:
    found: dict[str, object] = {"rank": 1, "standing": "best", "low": mean - 0.04, "high": mean + 0.04}
    return LeaderboardCell("run", "primary", 100, 100, 2, mean=mean, **{**found, **changes})  # type: ignore[arg-type]


def board(models: int = 3, tasks: int = 5, *, lettered: bool = False, name: str = "bench") -> Leaderboard:
    columns = [BoardColumn(f"{name}{at}", f"{name}{at}", "accuracy", pairs=3, paired=3, tests=["t"])
               for at in range(tasks)]  # fmt: skip
    rows = [
        BoardRow(
            letter=chr(65 + at),
            name=chr(65 + at) if lettered else f"model-{at}",
            model=f"organisation/a-model-with-a-long-name-{at}" if lettered else f"model-{at}",
            runs=["run"],
            cells=[None if (at + place) % 4 == 3 else cell(0.9 - at / 20, rank=at + 1) for place in range(tasks)],
            trials=1000,
            failed=2,
            seconds=125.0,
            prompt_tokens=1_234_567,
            completion_tokens=345_678,
        )
        for at in range(models)
    ]  # fmt: skip
    return Leaderboard(columns, rows, tests=15, fronts={c.name: [] for c in columns},
                       distributions={c.name: [] for c in columns})  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> Leaderboard:
    """Models and a dataset with names that would steer whatever shows them."""
    runs = []
    for place, values in enumerate(([1.0] * 20, [0.0] * 20)):
        target = Target("primary", f"{HOSTILE}{place}", "http://127.0.0.1:9/v1")
        data = [DataFile(f"{HOSTILE}.jsonl".replace("/", "∕"), "0" * 32, 20)]
        runs.append(write_run(tmp_path / f"run{place}", made(values), targets=[target], data=data))
    return build_leaderboard([BoardEntry(run) for run in runs])


class TestText:
    @given(
        st.integers(1, 12),
        st.integers(1, 9),
        st.booleans(),
        st.sampled_from(["b", "bench", "a-long-benchmark-"]),
    )
    def test_it_fits_80_columns_and_no_word_is_broken(
        self, models: int, tasks: int, lettered: bool, name: str
    ) -> None:
        found = board(models, tasks, lettered=lettered, name=name)
        text = table_text(render_board(found, 80), 80)
        assert max(map(len, text.splitlines())) <= 80
        words = set(text.split())
        assert {row.model for row in found.rows} | {column.name for column in found.columns} <= words
        assert len(re.findall(r"\d+\* 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", text)) == sum(
            one is not None for row in found.rows for one in row.cells
        )

    def test_it_says_how_ranks_were_made(self) -> None:
        text = " ".join(table_text(render_board(board(tasks=1), 80), 80).split())
        assert "a rank is 1 + how many others are better by a test" in text
        assert "bench0: compared sample by sample (paired t test)." in text
        assert "all 15 tests are corrected together (Holm)" in text

    def test_nothing_in_it_steers_the_terminal(self, hostile: Leaderboard) -> None:
        text = table_text(render_board(hostile, 80), 80)
        assert all(one.isprintable() or one == "\n" for one in text)


class TestOtherFormats:
    def test_markdown_has_a_line_for_each_row_and_no_markup_of_others(self, hostile: Leaderboard) -> None:
        text = render_markdown(hostile)
        table = [line for line in text.splitlines() if line.startswith("|")]
        assert len(table) == 4
        assert len({len(line.split(" | ")) for line in table}) == 1, "no name makes a cell"
        assert "<script" not in text
        assert "@someone" not in text

    def test_latex_takes_commands_of_others_for_characters(self, hostile: Leaderboard) -> None:
        body = render_latex(hostile).partition("\\midrule")[2]
        assert "\\input" not in body
        assert "\\textbackslash{}input\\{x\\}" in body
        assert body.count(" \\\\\n") == 2

    @given(st.text())
    def test_latex_has_each_special_character_escaped(self, text: str) -> None:
        left = escape_latex(text)
        for command in (*(f"\\{mark}" for mark in "&%$#_{}"), "$\\rightarrow$"):
            left = left.replace(command, "")
        left = re.sub(r"\\(text[a-z]+|dots)\{\}", "", left)
        assert not set(left) & set("\\&%$#_{}~^")

    def test_csv_has_the_numbers_and_no_formula(self, hostile: Leaderboard) -> None:
        head, *rows = csv.reader(io.StringIO(render_csv(hostile)))
        assert [row[0][:5] for row in rows] == ["'=cmd", "'=cmd"]
        found = dict(zip(head, rows[0], strict=True))
        name = hostile.columns[0].name
        assert (found[name], found[f"{name} rank"], found[f"{name} standing"]) == ("1.0", "1", "best")

    def test_latex_marks_the_best_and_those_tied_with_it(self) -> None:
        found = board(models=1, tasks=1)
        assert "\\textbf{0.900}$^{1}$ {\\footnotesize [0.860, 0.940]}" in render_latex(found)


class TestPage:
    def test_it_has_no_script_and_lets_nothing_in(self, hostile: Leaderboard) -> None:
        page = render_leaderboard(hostile, "Leaderboard")
        assert "<script" not in page
        assert "default-src 'none'" in unescape(page)
        assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", page)

    def test_every_drawing_is_whole(self, hostile: Leaderboard) -> None:
        drawings = re.findall(r"<svg.*?</svg>", render_leaderboard(hostile, "t"), re.DOTALL)
        assert len(drawings) == 5, "means, two fronts, two distributions"
        for one in drawings:
            assert ElementTree.fromstring(one).attrib["aria-label"]

    def test_it_shows_the_figures_of_the_leaderboard(self, hostile: Leaderboard) -> None:
        text = " ".join(unescape(re.sub(r"<[^>]+>", " ", render_leaderboard(hostile, "t"))).split())
        assert "1* 1.000 [0.839, 1.000]" in text
        assert "2 0.000 [0.000, 0.161]" in text
