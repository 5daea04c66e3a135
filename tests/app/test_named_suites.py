"""Suites by name: which there are, the user's own, and what they cost before they are run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.app.app_kit import NOWHERE, Program
from tests.app.benchmark_kit import write_mmlu
from tests.app.thinking_kit import thinking_server

from benchwright.app.named_suites import find_suite, suite_names
from benchwright.catalog import registry
from benchwright.errors import UserError

MINE = """
[[benchmarks]]
name = "mmlu"
max_tokens = 100
"""


@pytest.fixture
def mine(program: Program) -> list[str]:
    """The dry run of a suite of the user's own, of eight questions."""
    write_mmlu(program, 8)
    suites = program.home / "suites"
    suites.mkdir(parents=True)
    (suites / "mine.toml").write_text(MINE)
    return ["run", "--suite", "mine", "--model", "m", "--base-url", NOWHERE, "--dry-run", "--no-probe"]


def cost(program: Program, *command: str) -> dict[str, Any]:
    ended = program.run(*command, "--json")
    assert ended.returncode == 0, ended.stderr
    document: dict[str, Any] = json.loads(ended.stdout)
    found: dict[str, Any] = document["cost"]
    return found


class TestNames:
    def test_shipped_ones_name_benchmarks_that_are_there(self) -> None:
        for name in ("quick", "reasoning", "instruction", "code", "vision", "agents"):
            assert all(
                entry.name.partition(":")[0] in registry.BENCHMARKS for entry in find_suite(name).entries
            )

    def test_a_benchmark_that_this_version_lacks_is_left_out_and_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("benchwright.app.named_suites.BENCHMARKS", ("humaneval",))
        suite = find_suite("code")
        assert [entry.name for entry in suite.entries] == ["humaneval"]
        assert suite.missing_benchmarks == ("livecodebench",)

    def test_a_suite_of_nothing_is_not_offered_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("benchwright.app.named_suites.BENCHMARKS", ("humaneval",))
        assert "vision" not in suite_names()
        with pytest.raises(UserError, match="vision is not there yet"):
            find_suite("vision")

    def test_a_misspelt_name_is_suggested(self) -> None:
        with pytest.raises(UserError, match="Did you mean 'reasoning'"):
            find_suite("reasonning")

    def test_no_name_leads_out_of_the_folder(self) -> None:
        with pytest.raises(UserError, match="There is no suite"):
            find_suite("../recommended")

    def test_the_users_own_goes_before_a_shipped_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("BENCHWRIGHT_HOME", str(tmp_path))
        (tmp_path / "suites").mkdir()
        (tmp_path / "suites" / "quick.toml").write_text(MINE)
        assert [entry.name for entry in find_suite("quick").entries] == ["mmlu"]


class TestCost:
    def test_prompts_are_counted_and_answers_taken_at_their_largest(
        self, program: Program, mine: list[str]
    ) -> None:
        found = cost(program, *mine)
        assert (found["requests"], found["completion_tokens"], found["most"]) == (8, 800, True)
        assert 8 * 20 < found["prompt_tokens"] < 8 * 500

    def test_a_speed_gives_minutes_and_prices_give_money(self, program: Program, mine: list[str]) -> None:
        found = cost(program, *mine, "--speed", "100", "--price", "m=0,10")
        assert (found["minutes"], found["money"]) == (pytest.approx(8 / 60, abs=0.01), pytest.approx(0.008))

    def test_without_a_speed_and_prices_both_are_unknown(self, program: Program, mine: list[str]) -> None:
        found = cost(program, *mine)
        assert found.get("minutes") is None
        assert found.get("money") is None

    def test_once_the_model_was_asked_answers_have_their_length(
        self, program: Program, mine: list[str]
    ) -> None:
        answer = {"role": "assistant", "content": "Answer: A"}
        with thinking_server(answer, usage={"prompt_tokens": 50, "completion_tokens": 30}) as server:
            program.run("run", "mmlu", "--model", "m", "--base-url", server.base_url, "--limit", "4")
        found = cost(program, *mine)
        assert (found["requests"], found["prompt_tokens"], found["completion_tokens"]) == (8, 400, 240)
        assert "of this model" in found["basis"]

    def test_is_told_for_each_benchmark_and_for_all(self, program: Program, mine: list[str]) -> None:
        told = program.run(*mine, "--speed", "100").stdout
        rows = {row[0]: row[1:] for line in told.splitlines() if len(row := re.split(r" {2,}", line)) > 4}
        assert rows["Part"] == ["trials", "requests", "tokens in", "tokens out", "time"]
        assert rows["mmlu"][:2] == ["8", "8"]
        assert rows["mmlu"][3:] == ["≤ 800", "≤ 8.0s"]
        assert rows["all of it"] == rows["mmlu"]
        assert max(map(len, told.splitlines())) <= 120

    def test_what_is_unknown_is_left_out_of_the_sum_which_says_so(
        self, program: Program, mine: list[str]
    ) -> None:
        program.rows(3)
        more = '[[benchmarks]]\ndataset = "rows.jsonl"\nscorer = "exact"\n'
        (program.home / "suites" / "mine.toml").write_text(MINE + more)
        told = program.run(*mine).stdout
        assert re.search(r"^rows +3 +unknown +unknown +unknown$", told, re.M)
        assert re.search(r"^1 of 2 parts +8 +8 ", told, re.M)

    def test_a_single_benchmark_tells_it_too(self, program: Program, mine: list[str]) -> None:
        told = program.run("run", "mmlu", "--model", "m", "--base-url", NOWHERE, "--dry-run").stdout
        assert "estimate: 8 requests" in told

    @pytest.mark.parametrize(("option", "value"), [("--speed", "0"), ("--price", "m")])
    def test_a_rate_that_is_none_is_refused(
        self, program: Program, mine: list[str], option: str, value: str
    ) -> None:
        ended = program.run(*mine, option, value)
        assert (ended.returncode, f"{option} '{value}'" in ended.stderr) == (1, True), ended.stderr
