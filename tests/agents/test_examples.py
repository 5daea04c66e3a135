"""The examples: an agent with a calculator, its eval functions, and two small datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchwright.agents.agent_task import AgentTask
from benchwright.agents.eval_fns import EvalFnScorer, load_eval_fns
from benchwright.agents.loading import load_agent, load_object
from benchwright.agents.prompt_task import PromptTask

EXAMPLES = Path(__file__).parents[2] / "examples"
ARITHMETIC = EXAMPLES / "arithmetic.jsonl"
QUESTIONS = EXAMPLES / "questions.jsonl"


@pytest.fixture(autouse=True)
def in_examples(monkeypatch: pytest.MonkeyPatch, own_imports: None) -> None:
    monkeypatch.chdir(EXAMPLES)


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestCalculator:
    def test_gives_every_right_answer_of_the_dataset(self) -> None:
        calculate = load_object("agent:calculate")
        for row in rows(ARITHMETIC):
            assert calculate(row["expression"]) == pytest.approx(float(row["ground_truth"])), row

    @given(st.integers(-1000, 1000), st.integers(-1000, 1000), st.sampled_from(["+", "-", "*"]))
    def test_agrees_with_python(self, first: int, second: int, operation: str) -> None:
        calculate = load_object("agent:calculate")
        expected = {"+": first + second, "-": first - second, "*": first * second}[operation]
        assert calculate(f"({first}) {operation} ({second})") == expected

    @pytest.mark.parametrize(
        "expression",
        [
            "__import__('os').getcwd()",
            "x + 1",
            "'a' * 3",
            "True + 1",
            "[1, 2][0]",
            "1 if 2 else 3",
            "2 +",
            "9 ** 9 ** 9",
            "10 ** 99 * 100",
            "(-8) ** 0.5",
            "1 + " * 200 + "1",
        ],
    )
    def test_refuses_everything_else(self, expression: str) -> None:
        with pytest.raises(ValueError, match=r"."):
            load_object("agent:calculate")(expression)


class TestAgent:
    async def test_works_the_sum_out_and_then_answers(self, scripted: Any, make_trial: Any) -> None:
        session = scripted(scripted.calls("calculate", expression="17 * 23"), scripted.says("391 euros."))
        task = AgentTask(ARITHMETIC, load_agent("agent:CalculatorAgent"), ())
        sample = next(task.samples())
        async with task.open() as solver:
            outcome = await solver.solve(make_trial(sample.content), session)
        assert outcome.answer == "391 euros."
        assert outcome.messages[3] == {"role": "tool", "content": "391", "tool_call_id": "call_1"}
        assert session.asked[1][1]["tools"][0]["function"]["name"] == "calculate"
        scores = {
            fn.name: (await EvalFnScorer(fn).score(sample, outcome, session)).value
            for fn in load_eval_fns(["rewards:right_number", "rewards:worked_out"])
        }
        assert scores == {"rewards:right_number": 1.0, "rewards:worked_out": 1.0}

    @pytest.mark.parametrize(
        ("name", "arguments", "told"),
        [
            ("calculate", {"expression": "1 / 0"}, "Error: division by zero"),
            ("calculate", {"sum": "1 + 1"}, "Error: calculate() got an unexpected keyword argument 'sum'"),
            ("browse", {}, "Error: there is no tool named 'browse'"),
        ],
    )
    async def test_tells_the_model_what_went_wrong(
        self, scripted: Any, make_trial: Any, name: str, arguments: dict[str, str], told: str
    ) -> None:
        session = scripted(scripted.calls(name, **arguments), scripted.says("I cannot tell."))
        task = AgentTask(ARITHMETIC, load_agent("agent:CalculatorAgent"), ())
        async with task.open() as solver:
            outcome = await solver.solve(make_trial(), session)
        assert outcome.messages[3]["content"] == told

    async def test_stops_after_its_turns(self, scripted: Any, make_trial: Any) -> None:
        session = scripted(*(scripted.calls("calculate", expression="1 + 1") for _ in range(3)))
        task = AgentTask(ARITHMETIC, load_agent("agent:CalculatorAgent"), (), max_turns=3)
        async with task.open() as solver:
            outcome = await solver.solve(make_trial(), session)
        assert outcome.artifacts["finish_reason"] == "max_turns"


class TestRewards:
    @pytest.mark.parametrize(
        ("answer", "value"),
        [("17 times 23 is 391.", 1.0), ("391.0", 1.0), ("390", 0.0), ("First 391, no: 400", 0.0), ("", 0.0)],
    )
    def test_the_last_number_counts(self, answer: str, value: float) -> None:
        assert load_object("rewards:right_number")(answer, "391") == value

    @pytest.mark.parametrize(
        ("results", "value"), [(["391"], 1.0), (["7", "391.0000000001"], 1.0), (["7"], 0.5), ([], 0.0)]
    )
    def test_working_it_out_counts(self, results: list[str], value: float) -> None:
        messages = [{"role": "tool", "content": result} for result in results]
        assert load_object("rewards:worked_out")(messages, "391", {}) == value


class TestDatasets:
    def test_there_are_24_sums(self) -> None:
        assert AgentTask(ARITHMETIC, load_agent("agent:CalculatorAgent"), ()).size() == 24

    def test_there_are_30_questions_in_6_categories(self) -> None:
        task = PromptTask(QUESTIONS, (), group_by="category")
        samples = list(task.samples())
        assert len(samples) == 30
        assert len({sample.group for sample in samples}) == 6
        assert all(sample.content["ground_truth"] in "ABCD" for sample in samples)
        assert all(len(set(row["options"])) == 4 for row in rows(QUESTIONS))
