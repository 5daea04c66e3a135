"""What a comparison looks like: word for word, and with hostile text in it."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from tests.app.compare_kit import Made, made, paired_outcomes, two_runs, write_run

from benchwright.analysis.comparison.compare import ComparisonOptions, compare
from benchwright.analysis.comparison.records import Comparison
from benchwright.records import Status
from benchwright.reports.comparison.junit import render_junit
from benchwright.reports.comparison.markdown import code_element, render_markdown
from benchwright.reports.comparison.sentences import p_value_text, verdict_lines
from benchwright.reports.terminal import render_comparison_answer
from benchwright.runs.manifest import ScorerInfo

HOSTILE = "x|y`</code></details><img src=x onerror=alert(1)> @octocat #1 https://evil.example [a](b)\n\x1b[31m\u202e*_~"


def comparison_of(*references: str, **wanted: Any) -> Comparison:
    return compare(references, ComparisonOptions(**wanted)).comparison


def terminal(comparison: Comparison, width: int = 150, *, details: bool = False) -> str:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(
        render_comparison_answer(comparison, details=details)
    )
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def first_line(*references: str, **wanted: Any) -> str:
    return terminal(comparison_of(*references, **wanted), 400).splitlines()[0]


class TestVerdicts:
    def test_better(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=60, losses=29, both=600, neither=311)
        assert first_line(*two_runs(tmp_path, made(a), made(b))) == (
            "B is better than A by 3.1 points (95 % 1.2 to 4.9), p < 0.001."
        )

    def test_worse_with_the_loss_as_a_positive_number(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=29, losses=60, both=600, neither=311)
        assert first_line(*two_runs(tmp_path, made(a), made(b))) == (
            "B is worse than A by 3.1 points (95 % 1.2 to 4.9), p < 0.001."
        )

    def test_no_difference(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=30, losses=26, both=600, neither=344)
        assert first_line(*two_runs(tmp_path, made(a), made(b))) == (
            "No difference found between B and A: +0.4 points (95 % -1.1 to 1.9), p = 0.6. "
            "A true difference of 2.1 points would have been detected with 80 % probability."
        )

    def test_undecided(self, tmp_path: Path) -> None:
        assert first_line(*two_runs(tmp_path, made([0.25]), made([0.5]))) == (
            "Undecided between B and A: the difference is +25.0 points, and the data does not support a test."
        )

    def test_scores_that_are_no_shares_are_told_as_they_are(self, tmp_path: Path) -> None:
        line = first_line(*two_runs(tmp_path, made([1, 2, 3, 4]), made([3, 4.5, 5, 6.4])))
        assert line == "B is better than A by 2.225 (95 % 1.807 to 2.643), p < 0.001."

    def test_several_are_told_apart_and_corrected(self, tmp_path: Path) -> None:
        a = [0.0] * 10 + [1.0] * 40
        runs = [str(write_run(tmp_path / "a", made(a)))]
        runs += [str(write_run(tmp_path / name, made([1.0] * 8 + a[8:]))) for name in ("b", "c")]
        lines = terminal(comparison_of(*runs), 400).splitlines()
        assert lines[0].startswith("exact: B is better than A by 16.0 points")
        assert lines[1].endswith("p = 0.0078 (Holm, 2 tests; alone p = 0.0039).")

    @pytest.mark.parametrize(
        ("p_value", "text"), [(0.0005, "p < 0.001"), (0.0123, "p = 0.012"), (0.5, "p = 0.5"), (1.0, "p = 1")]
    )
    def test_p_values(self, p_value: float, text: str) -> None:
        assert p_value_text(p_value) == text


class TestTheTerminal:
    def test_the_first_screen(self, tmp_path: Path) -> None:
        a = [Made("0", 0.0, span="B"), Made("1", 1.0, span="C"), Made("2", 1.0, span="A")]
        b = [Made("0", 1.0, span="A"), Made("1", 1.0, span="C"), Made("2", 1.0, span="A")]
        found = comparison_of(*two_runs(tmp_path, a, b, concurrency=4), fail_if=("exact < 0.5",))
        assert terminal(found, 80) == FIRST_SCREEN
        details = terminal(found, 80, details=True)
        assert [line for line in FIRST_SCREEN.splitlines() if line not in details] == [
            "exact: 1 trial won, 0 lost.",
            "Changed answers, differences by label, quality and speed together: --details.",
        ]
        assert "answer of A  answer of B" in details

    def test_failures_have_columns_where_there_are_any(self, tmp_path: Path) -> None:
        b = [Made("0", failed=Status.PROVIDER_ERROR), Made("1", None), Made("2", 1.0)]
        assert "failed" not in terminal(
            comparison_of(*two_runs(tmp_path / "none", made([1, 1, 0]), made([1, 0, 0])))
        )
        shown = terminal(comparison_of(*two_runs(tmp_path / "some", made([1, 1, 0]), b)), 80)
        assert re.search(r"^Run .* failed  no answer$", shown, re.M)
        assert re.search(r"^B  .* 1          1$", shown, re.M)

    def test_warnings_stand_right_beneath_the_verdict(self, tmp_path: Path) -> None:
        b = made([1] * 80) + [Made(str(n), failed=Status.PROVIDER_ERROR) for n in range(80, 100)]
        lines = terminal(comparison_of(*two_runs(tmp_path, made([1] * 100), b)), 400).splitlines()
        assert lines[1] == (
            "exact: THE VERDICT DEPENDS on how to count 20 trials without a score (both left out: no difference "
            "found; both are 0: worse; the best for B: no difference found; the worst for B: worse)."
        )

    def test_unpaired_is_loud(self, tmp_path: Path) -> None:
        shown = terminal(comparison_of(*two_runs(tmp_path, made([1, 0]), [Made("x"), Made("y")])), 400)
        assert "exact: UNPAIRED, because the two have no sample in common." in shown

    def test_few_samples_in_common_are_told(self, tmp_path: Path) -> None:
        b = [Made(str(number)) for number in range(8, 18)]
        shown = terminal(comparison_of(*two_runs(tmp_path, made([1] * 10), b)), 400)
        assert "exact: ONLY 2 samples on both sides, of 10 and 10." in shown

    def test_a_refusal_says_why_and_what_to_do(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([1])))
        b = str(write_run(tmp_path / "b", made([1]), scorers=[ScorerInfo("exact", "rule 2")]))
        line = first_line(a, b)
        assert line.startswith(
            "NOT COMPARED: 'exact' was graded by different rules (fingerprint rule 1, then rule 2)."
        )
        assert line.endswith("Use --anyway to compare them regardless.")
        assert first_line(a, b, allow_incomparable=True).startswith("No difference found")

    def test_simulated_runs_are_called_so(self, tmp_path: Path) -> None:
        runs = two_runs(tmp_path, made([1], simulated=True), made([1], simulated=True))
        assert "SIMULATED: some of these answers are not from a model." in terminal(comparison_of(*runs))

    def test_hostile_text_cannot_steer_it(self, tmp_path: Path) -> None:
        shown = terminal(hostile_comparison(tmp_path), 2000)
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def hostile_comparison(place: Path) -> Comparison:
    a = [Made(f"{HOSTILE}1", 0.0, span=HOSTILE), Made("2", 1.0)]
    b = [Made(f"{HOSTILE}1", 1.0, span=HOSTILE), Made("2", 1.0)]
    return comparison_of(*two_runs(place, a, b, typed_models={"primary": HOSTILE}))


class TestMarkdown:
    def test_the_verdict_is_the_first_line(self, tmp_path: Path) -> None:
        a, b = paired_outcomes(wins=60, losses=29, both=600, neither=311)
        text = render_markdown(comparison_of(*two_runs(tmp_path, made(a), made(b)), max_regression=0.01))
        assert text.startswith(
            "**B is better than A by 3.1 points (95 % 1.2 to 4.9), p < 0.001.**\n\n- ✅ passed: "
        )

    def test_every_row_of_a_table_has_the_cells_of_its_head(self, tmp_path: Path) -> None:
        tables = re.findall(r"(?:^\|.*\n)+", render_markdown(hostile_comparison(tmp_path)), re.MULTILINE)
        assert len(tables) >= 4
        for table in tables:
            assert len({line.count("|") for line in table.splitlines()}) == 1, table

    def test_details_are_opened_and_closed(self, tmp_path: Path) -> None:
        text = render_markdown(hostile_comparison(tmp_path))
        assert text.count("<details>") == text.count("</details>") > 0

    @given(st.text())
    def test_foreign_text_makes_no_markup(self, text: str) -> None:
        inner = re.fullmatch(r"(?:<code>(.*)</code>)?", code_element(text), re.DOTALL)
        assert inner is not None
        assert re.search(r"[<>|`*_\[\]@~!\\\n]|#(?!\d)|&(?!#\d+;)|://", inner[1] or "") is None

    def test_what_steers_a_reader_is_taken_out(self) -> None:
        assert code_element("a\u202eb\x1bc\nd") == "<code>a b c d</code>"

    def test_a_mention_is_none(self) -> None:
        assert code_element("@octocat") == "<code>&#64;octocat</code>"


class TestJUnit:
    def test_rules_that_do_not_hold_are_failures(self, tmp_path: Path) -> None:
        runs = two_runs(tmp_path, made([1, 1]), made([0, 1]))
        root = ElementTree.fromstring(
            render_junit(comparison_of(*runs, fail_if=("exact < 0.9", "exact < 0.1")))
        )
        (suite,) = root
        assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "0")
        cases = {case.get("name"): case for case in suite.iter("testcase")}
        failure = cases["fail if exact < 0.9"].find("failure")
        assert failure is not None
        assert failure.get("message") == "exact is 0.5"
        assert cases["fail if exact < 0.1"].find("failure") is None

    def test_a_refused_pair_is_skipped_with_the_reason(self, tmp_path: Path) -> None:
        a = str(write_run(tmp_path / "a", made([1])))
        b = str(write_run(tmp_path / "b", made([1]), scorers=[ScorerInfo("exact", "rule 2")]))
        skipped = ElementTree.fromstring(render_junit(comparison_of(a, b))).find(".//skipped")
        assert skipped is not None
        assert "different rules" in (skipped.get("message") or "")

    def test_hostile_text_is_xml_all_the_same(self, tmp_path: Path) -> None:
        runs = two_runs(
            tmp_path,
            made([1]),
            made([1]),
            kind="pack",
            data=[],
            scorers=[ScorerInfo("exact", HOSTILE + "\x00")],
        )
        ElementTree.fromstring(render_junit(comparison_of(*runs)))


def test_a_verdict_of_every_score_of_every_pair(tmp_path: Path) -> None:
    runs = [str(write_run(tmp_path / name, made([1, 0, 1]))) for name in "abc"]
    assert len(list(verdict_lines(comparison_of(*runs)))) == 2


FIRST_SCREEN = """\
No difference found between B and A: +33.3 points (95 % -32.6 to 72.6), p = 0.5.
A true difference of 93.4 points would have been detected with 80 % probability.

Run  model  task            what  samples  trials
A    model  eval questions  a           3       3
B    model  eval questions  b           3       3

                     A      B  difference     95 % interval    p
exact            0.667  1.000      +0.333  [-0.326, +0.726]  0.5
TTFT p50, ms       100    100          +0                 –
TTFT p95, ms       100    100          +0                 –
latency p50, ms  1,000  1,000          +0                 –
latency p95, ms  1,000  1,000          +0                 –
Agresti-Min interval at 95 %, McNemar mid-p test (exact: p = 1); aligned by
sample and repeat; the data is the same

exact: 1 trial won, 0 lost.
passed: fail if exact < 0.5 — exact is 1
Changed answers, differences by label, quality and speed together: --details."""
