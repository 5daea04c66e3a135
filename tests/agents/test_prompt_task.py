"""A dataset asked as it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.prompt_task import PromptTask
from benchwright.data.errors import DatasetError
from benchwright.errors import ProviderError, UserError
from benchwright.records import Message, Outcome, Status

QUESTION = {
    "question": "Which is a prime?",
    "options": ["51", "59"],
    "answer": "B",
    "category": "numbers",
}


@pytest.fixture
def dataset(tmp_path: Path) -> Any:
    def write(*rows: dict[str, Any]) -> Path:
        path = tmp_path / "questions.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    return write


@pytest.fixture
def solve(scripted: Any, make_trial: Any) -> Any:
    async def run(task: PromptTask, reply: Any) -> tuple[Outcome, list[Message]]:
        session = scripted(reply)
        (sample,) = task.samples()
        async with task.open() as solver:
            outcome = await solver.solve(make_trial(sample.content), session)
        ((messages, params),) = session.asked
        assert params == {}
        return outcome, messages

    return run


class TestConversation:
    async def test_the_prompt_is_asked_and_the_answer_kept(
        self, dataset: Any, solve: Any, scripted: Any
    ) -> None:
        task = PromptTask(dataset({"prompt": "2 + 2?", "answer": "4"}), ())
        outcome, asked = await solve(task, scripted.says("4"))
        assert asked == [{"role": "user", "content": "2 + 2?"}]
        assert outcome == Outcome(
            Status.ANSWERED, [*asked, {"role": "assistant", "content": "4"}], answer="4"
        )

    async def test_options_are_lettered(self, dataset: Any, solve: Any, scripted: Any) -> None:
        _, asked = await solve(PromptTask(dataset(QUESTION), ()), scripted.says("B"))
        assert asked == [{"role": "user", "content": "Which is a prime?\n\nA. 51\nB. 59"}]

    async def test_a_rows_system_prompt_comes_first(self, dataset: Any, solve: Any, scripted: Any) -> None:
        path = dataset(QUESTION | {"system_prompt": "Be brief."})
        _, asked = await solve(PromptTask(path, ()), scripted.says("B"))
        assert [message["role"] for message in asked] == ["system", "user"]
        assert asked[0]["content"] == "Be brief."

    async def test_the_system_prompt_that_is_given_takes_its_place(
        self, dataset: Any, solve: Any, scripted: Any
    ) -> None:
        path = dataset(QUESTION | {"system_prompt": "Be brief."})
        _, asked = await solve(PromptTask(path, (), system="Think."), scripted.says("B"))
        assert asked[0] == {"role": "system", "content": "Think."}

    async def test_a_template_goes_around_the_prompt(self, dataset: Any, solve: Any, scripted: Any) -> None:
        path = dataset({"prompt": 'say {"a": 1}', "answer": "x"})
        task = PromptTask(path, (), template='{prompt}\nReply as {"b": …}.')
        _, asked = await solve(task, scripted.says("x"))
        assert asked[0]["content"] == 'say {"a": 1}\nReply as {"b": …}.'

    def test_a_template_must_have_a_place_for_the_prompt(self, dataset: Any) -> None:
        with pytest.raises(UserError, match=r"has no \{prompt\}.*'Answer:'"):
            PromptTask(dataset(QUESTION), (), template="Answer:")

    @pytest.mark.parametrize(
        ("how", "status"),
        [
            ({"finish_reason": "length"}, Status.TRUNCATED),
            ({"refusal": "I cannot."}, Status.REFUSED),
        ],
    )
    async def test_an_answer_that_is_none_says_so(
        self, dataset: Any, solve: Any, scripted: Any, how: dict[str, str], status: Status
    ) -> None:
        outcome, _ = await solve(PromptTask(dataset(QUESTION), ()), scripted.says("…", **how))
        assert outcome.status == status
        assert outcome.reason

    async def test_a_failing_endpoint_fails_the_trial(self, dataset: Any, solve: Any, scripted: Any) -> None:
        with pytest.raises(ProviderError, match="overloaded"):
            await solve(PromptTask(dataset(QUESTION), ()), ProviderError("overloaded"))


class TestSamples:
    def test_a_sample_has_the_row_under_the_documented_names(self, dataset: Any) -> None:
        (sample,) = PromptTask(dataset(QUESTION), (), group_by="category").samples()
        assert (sample.id, sample.group) == ("0", "numbers")
        assert sample.content["ground_truth"] == "B"
        assert sample.content["category"] == "numbers"

    def test_rows_are_grouped_even_by_a_column_that_is_a_part(self, dataset: Any) -> None:
        (sample,) = PromptTask(dataset(QUESTION), (), group_by="question").samples()
        assert sample.group == "Which is a prime?"

    def test_columns_can_be_named(self, dataset: Any) -> None:
        path = dataset({"body": "2 + 2?", "solution": "4"})
        (sample,) = PromptTask(path, (), columns={"prompt": "body", "target": "solution"}).samples()
        assert sample.content == {"user_prompt": "2 + 2?", "ground_truth": "4"}

    def test_a_target_must_be_there_unless_nothing_is_compared_with_it(self, dataset: Any) -> None:
        path = dataset({"prompt": "Write a poem."})
        with pytest.raises(DatasetError, match="target"):
            PromptTask(path, ())
        assert PromptTask(path, (), needs_target=False).size() == 1

    def test_every_row_is_checked_before_anything_runs(self, dataset: Any) -> None:
        task = PromptTask(dataset(QUESTION, QUESTION | {"answer": "Z"}), ())
        with pytest.raises(DatasetError, match="Row 1: 'answer'"):
            task.size()

    def test_limit_and_offset_choose_rows(self, dataset: Any) -> None:
        rows = [QUESTION | {"question": f"Question {number}?"} for number in range(5)]
        task = PromptTask(dataset(*rows), (), limit=2, offset=1)
        assert [sample.id for sample in task.samples()] == ["1", "2"]
        assert task.size() == 2

    def test_an_empty_dataset_is_a_mistake(self, dataset: Any) -> None:
        with pytest.raises(DatasetError, match=r"questions\.jsonl has no rows"):
            PromptTask(dataset(), ())


class TestFingerprint:
    def test_covers_what_shapes_the_conversation_and_nothing_else(self, dataset: Any) -> None:
        path = dataset(QUESTION)

        def fingerprint(**options: Any) -> str:
            return PromptTask(path, (), **options).spec.fingerprint

        plain = fingerprint()
        assert fingerprint(limit=1, group_by="category") == plain
        assert fingerprint(template="{prompt}") == plain
        assert len({plain, fingerprint(system="Think."), fingerprint(template="Q: {prompt}")}) == 3
