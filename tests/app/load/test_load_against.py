"""One server against another: how often it is wrong, what it finds, and what it says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from tests.app.app_kit import Program
from tests.app.load.load_kit import measure
from tests.app.load.queue_kit import measured
from tests.simulated import simulated_endpoint

from benchwright.analysis.load.comparison.compare import compare_loads
from benchwright.analysis.load.comparison.figures import level_figures
from benchwright.analysis.load.comparison.records import LoadChange, LoadComparison, LoadComparisonResult
from benchwright.analysis.load.comparison.rules import LoadRules
from benchwright.analysis.load.figure_records import FigureEstimate, Goodput
from benchwright.analysis.load.records import LevelResult, LoadLevel, LoadReport, Objective
from benchwright.errors import UserError

PAIRS = 200
SECONDS = 60.0


def alarms(found: LoadComparisonResult) -> list[str]:
    (pair,) = found.pairs
    return [change.measure for change in pair.changes if change.verdict in ("better", "worse")]


@pytest.mark.parametrize("concurrencies", [[4], [16], [4, 16]], ids=str)
@pytest.mark.slow
def test_of_200_pairs_of_equal_servers_at_most_one_in_twenty_is_called_different(
    concurrencies: Sequence[int],
) -> None:
    generator = np.random.default_rng(1)
    found = [
        compare_loads([measured(generator, concurrencies, SECONDS) for _ in range(2)], LoadRules())
        for _ in range(PAIRS)
    ]
    assert sum(bool(alarms(one)) for one in found) <= PAIRS * 0.05


@pytest.mark.slow
def test_a_server_that_is_a_tenth_slower_is_found_in_nine_of_ten_minutes() -> None:
    generator = np.random.default_rng(2)
    hits = 0
    for _ in range(PAIRS):
        reports = [measured(generator, [16], SECONDS), measured(generator, [16], SECONDS, slower=1 / 0.9)]
        hits += "achieved" in alarms(compare_loads(reports, LoadRules()))
    assert hits >= 0.9 * PAIRS


@pytest.mark.slow
def test_repeats_put_what_changes_from_run_to_run_into_the_interval() -> None:
    """Each run of either server is some 5 % slower or faster by chance: single runs call that a difference."""
    generator = np.random.default_rng(3)

    def false_alarms(repeats: int) -> int:
        pairs = [
            [measured(generator, [4, 16], 30.0, repeats=repeats, between=0.05) for _ in range(2)]
            for _ in range(60)
        ]
        return sum(bool(alarms(compare_loads(reports, LoadRules()))) for reports in pairs)

    assert false_alarms(1) > 15
    assert false_alarms(3) <= 5


def known(value: float, *, width: float = 0.01) -> FigureEstimate:
    return FigureEstimate(value, value * (1 - width), value * (1 + width))


def report(rates: dict[int, FigureEstimate], **more: Any) -> LoadReport:
    levels = [
        LevelResult(LoadLevel(concurrency=at), f"run-{at}", "finished", 99, counted=90, achieved=rate, **more)
        for at, rate in rates.items()
    ]
    return LoadReport("load-1", "synthetic", "m", "http://127.0.0.1:9/v1", "prompts", [], levels)


def changes(a: LoadReport, b: LoadReport) -> dict[str, LoadChange]:
    (pair,) = compare_loads([a, b], LoadRules()).pairs
    return {f"{change.level_b.name}.{change.measure}": change for change in pair.changes}


def test_levels_are_compared_with_those_of_the_same_load_and_the_best_with_the_best() -> None:
    a, b = report({4: known(20.0), 16: known(30.0)}), report({4: known(22.0), 32: known(36.0)})
    assert set(changes(a, b)) == {"4.achieved"}
    assert changes(a, b)["4.achieved"].change == pytest.approx(0.1)
    (pair,) = compare_loads([a, b], LoadRules()).pairs
    assert pair.best is not None
    assert (pair.best.level_a.name, pair.best.level_b.name) == ("16", "32")
    assert pair.best.change == pytest.approx(0.2)


def test_the_interval_of_a_ratio_is_recovered_from_those_of_both() -> None:
    found = changes(report({4: known(20.0)}), report({4: known(20.0)}))["4.achieved"]
    assert found.low == pytest.approx(-0.014, abs=1e-3)
    assert found.high == pytest.approx(0.0143, abs=1e-3)
    assert (found.p_value, found.verdict) == (1.0, "no difference found")


def test_without_an_interval_nothing_is_decided() -> None:
    found = changes(report({4: FigureEstimate(20.0)}), report({4: known(40.0)}))["4.achieved"]
    assert (found.p_value, found.verdict) == (None, "unknown")


def test_times_of_a_busy_client_are_not_compared() -> None:
    from benchwright.analysis.load.figure_records import TimeDistribution

    spread = TimeDistribution(90, 1.0, known(1.0), known(1.0), known(1.0))
    steady, busy = (report({4: known(20.0)}, latency=spread, client_bound=why) for why in (None, "busy"))
    assert "4.latency_p50" in changes(steady, steady)
    assert set(changes(steady, busy)) == {"4.achieved"}


def test_what_is_not_the_same_work_is_not_compared_but_anyway() -> None:
    a = report({4: known(20.0)})
    b = replace(a, task="other")
    (pair,) = compare_loads([a, b], LoadRules()).pairs
    assert (pair.changes, len(pair.refusals)) == ([], 1)
    (pair,) = compare_loads([a, b], LoadRules(), anyway=True).pairs
    assert len(pair.changes) == 1
    assert any("asked different things" in note for note in pair.notes)


@pytest.mark.parametrize(
    ("rules", "passes"),
    [
        (LoadRules(max_regression=0.05), False),
        (LoadRules(max_regression=0.2), True),
        (LoadRules(max_regression=0.2, require_non_inferiority=True), True),
        (LoadRules(max_regression=0.101, require_non_inferiority=True), False),
        (LoadRules(("4.achieved < 17",)), True),
        (LoadRules(("best.change < -0.05",)), False),
    ],
)
def test_rules_hold_or_not(rules: LoadRules, passes: bool) -> None:
    found = compare_loads([report({4: known(20.0)}), report({4: known(18.0)})], rules)
    assert [ruling.passed for ruling in found.rulings] == [passes]
    assert found.failed is not passes


def test_a_rule_on_what_there_is_not_names_what_there_is() -> None:
    with pytest.raises(UserError, match=r"Did you mean '4\.achieved'"):
        compare_loads([report({4: known(20.0)})] * 2, LoadRules(("4.acheived < 1",)))


def test_the_figure_of_several_runs_is_their_geometric_mean() -> None:
    runs = report({4: known(20.0)})
    twice = replace(runs, levels=[*runs.levels, replace(runs.levels[0], achieved=known(21.0), repeat=2)])
    found = level_figures(twice)["4"].figures["achieved"]
    assert found.value == pytest.approx((20 * 21) ** 0.5)
    assert found.low is not None
    assert found.low < 20


def compared(program: Program, *arguments: str) -> tuple[int, str, LoadComparisonResult]:
    ended = program.run("compare", *arguments, "--json")
    return ended.returncode, ended.stderr, msgspec.json.decode(ended.stdout, type=LoadComparisonResult)


SYNTHETIC = ("--synthetic-input", "32", "--synthetic-output", "8", "--requests", "60", "--concurrency", "4")


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, LoadReport, LoadReport]:
    """A server, and one that needs twice as long for each token."""
    program = Program(tmp_path_factory.mktemp("loads"))
    with simulated_endpoint("--first-token", "10", "--between-tokens", "10") as url:
        fast = measure(program, url, *SYNTHETIC, "-o", "fast.json")
    with simulated_endpoint("--first-token", "10", "--between-tokens", "20") as url:
        slow = measure(program, url, *SYNTHETIC)
    return program, fast, slow


def test_a_tag_a_part_of_one_a_file_and_a_run_mean_the_same_measurement(
    loads: tuple[Program, LoadReport, LoadReport],
) -> None:
    program, fast, slow = loads
    found = [compared(program, reference, slow.id)[2].pairs for reference in (fast.id, "fast.json")]
    assert found[0] == found[1]
    by_run = compared(program, fast.levels[0].run, slow.levels[0].run)[2].pairs
    assert by_run == found[0]


def test_a_stored_measurement_reads_as_it_was_told(loads: tuple[Program, LoadReport, LoadReport]) -> None:
    from benchwright.analysis.load.load_measurement import read_load_measurement
    from benchwright.runs.table import read_table

    program, fast, _ = loads
    runs = program.home / "runs"
    again = read_load_measurement(read_table(runs / level.run, effort=True) for level in fast.levels)
    assert again is not None
    assert again.report == fast


def test_a_slower_server_is_named_and_fails_the_gate(loads: tuple[Program, LoadReport, LoadReport]) -> None:
    program, fast, slow = loads
    code, _, found = compared(program, fast.id, slow.id, "--max-regression", "0.1")
    changes_of = {change.measure: change for change in found.pairs[0].changes}
    assert code == 3
    assert changes_of["achieved"].verdict == "worse"
    once, now = (measurement.levels[0].achieved for measurement in (fast, slow))
    assert once is not None
    assert now is not None
    assert changes_of["achieved"].change == pytest.approx(now.value / once.value - 1)
    shown = program.run("compare", fast.id, slow.id)
    assert (shown.returncode, "B serves" in shown.stdout, "FAILED" in shown.stdout) == (0, True, False)
    assert max(map(len, shown.stdout.splitlines()[3:])) <= 120


def test_the_gate_is_written_as_junit_and_markdown(loads: tuple[Program, LoadReport, LoadReport]) -> None:
    program, fast, slow = loads
    ended = program.run(
        *("compare", fast.id, slow.id, "--max-regression", "0.1", "--junit", "j.xml", "--markdown", "m.md")
    )
    assert ended.returncode == 3
    assert "<failure" in (program.directory / "j.xml").read_text()
    assert "❌" in (program.directory / "m.md").read_text()


def test_a_measurement_and_a_run_of_something_else_are_refused(
    loads: tuple[Program, LoadReport, LoadReport],
) -> None:
    program, fast, _ = loads
    program.write("scores.jsonl", '{"id": "a", "score": 1}\n')
    ended = program.run("compare", fast.id, "scores.jsonl")
    assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
    assert "is not a measurement under load, and others are" in ended.stderr


def test_load_against_an_earlier_one_compares_at_once_and_gates(
    loads: tuple[Program, LoadReport, LoadReport],
) -> None:
    program, fast, _ = loads
    with simulated_endpoint("--first-token", "10", "--between-tokens", "20") as url:
        ended = program.run(
            *("load", "--model", "m", "--base-url", url, *SYNTHETIC, "--against", fast.id),
            *("--max-regression", "0.1", "--repeats", "2", "--json", "--quiet"),
        )
    found = msgspec.json.decode(ended.stdout, type=LoadComparison)
    assert ended.returncode == 3, ended.stderr
    assert [level.repeat for level in found.reports[0].levels] == [1, 2]
    assert found.compared is not None
    assert [side.runs for side in found.compared.sides] == [1, 2]


def test_several_models_take_turns_and_are_compared(program: Program) -> None:
    with simulated_endpoint() as url:
        ended = program.run(
            *("load", "--model", "a", "--model", "b", "--base-url", url, *SYNTHETIC, "--concurrency", "1,4"),
            *("--requests", "20", "--repeats", "2", "--json", "--quiet"),
        )
    found = msgspec.json.decode(ended.stdout, type=LoadComparison)
    runs = sorted((program.home / "runs").iterdir())
    order = [json.loads((run / "run.json").read_bytes()) for run in runs]
    order.sort(key=lambda manifest: manifest["created_at"])
    assert [
        (manifest["typed_models"]["primary"], manifest["about"]["load"]["level"]["concurrency"])
        for manifest in order
    ] == [("a", 1), ("a", 4), ("b", 1), ("b", 4), ("b", 4), ("b", 1), ("a", 4), ("a", 1)]
    assert found.compared is not None
    assert len(found.compared.sides) == 2


def test_a_level_at_which_b_answers_nothing_fails_the_gate_and_is_told() -> None:
    a = report({4: known(20.0), 16: known(30.0)})
    b = replace(
        a,
        levels=[
            a.levels[0],
            LevelResult(LoadLevel(concurrency=16), "run", "finished", 99, counted=90, failed=90),
        ],
    )
    found = compare_loads([a, b], LoadRules(max_regression=0.1))
    assert [ruling.rule for ruling in found.rulings if not ruling.passed] == [
        "answers/s at 16: answered at all"
    ]
    assert "B answered no request at 16" in found.pairs[0].notes
    assert not compare_loads([b, b], LoadRules(max_regression=0.1)).failed, "nor did A: no loss"


def test_goodput_of_other_objectives_is_neither_compared_nor_gated() -> None:
    good = Goodput(90, 90, 1.0, 0.96, 1.0, known(20.0))
    a = replace(report({4: known(20.0)}, goodput=good), objectives=[Objective("ttft", 0.5)])
    assert "4.goodput" in changes(a, a)
    assert "4.goodput" not in changes(a, replace(a, objectives=[Objective("ttft", 0.1)]))
