"""An agent over a dataset."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.agent_task import AgentTask
from benchwright.agents.loading import load_agent
from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.data.errors import DatasetValidationError
from benchwright.engine.error_boundary import ErrorBoundary
from benchwright.engine.seeds import repeat_seed
from benchwright.errors import LimitReached, ProviderError
from benchwright.records import Outcome, Status

Write = Callable[[str, str], Path]


@pytest.fixture
def dataset(tmp_path: Path, row: dict[str, Any]) -> Path:
    path = tmp_path / "data.jsonl"
    rows = [row | {"topic": topic} for topic in ("sums", "sums", "products")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def solve(dataset: Path, make_trial: Any) -> Any:
    """Solves one trial, the way the engine does: what it raises becomes a status."""

    async def run(agent: Any, session: Any, trial: Any = None, **options: Any) -> Outcome:
        boundary = ErrorBoundary()
        outcome = None
        async with AgentTask(dataset, agent, (), **options).open() as solver:
            with boundary:
                outcome = await solver.solve(trial or make_trial(), session)
        return outcome or Outcome(boundary.status, reason=boundary.reason)  # type: ignore[arg-type]

    return run


class TestSamples:
    def test_each_row_is_a_sample_under_its_place_in_the_file(self, dataset: Path, make_agent: Any) -> None:
        task = AgentTask(dataset, make_agent(), (), offset=1, group_by="topic")
        samples = list(task.samples())
        assert [(sample.id, sample.group) for sample in samples] == [("1", "sums"), ("2", "products")]
        assert samples[0].content["ground_truth"] == "4"
        assert task.size() == 2

    def test_a_column_to_group_by_must_be_there(self, dataset: Path, make_agent: Any) -> None:
        with pytest.raises(DatasetValidationError, match=r"Row 0: No column 'topci'.*Did you mean 'topic'"):
            AgentTask(dataset, make_agent(), (), group_by="topci").size()

    def test_every_row_is_checked_before_anything_runs(self, dataset: Path, make_agent: Any) -> None:
        dataset.write_text(dataset.read_text() + '{"user_prompt": "?"}\n')
        with pytest.raises(DatasetValidationError, match="Row 3: Missing required columns"):
            AgentTask(dataset, make_agent(), ()).size()

    def test_there_must_be_a_row(self, dataset: Path, make_agent: Any) -> None:
        with pytest.raises(DatasetValidationError, match="has no rows from row 3 on"):
            AgentTask(dataset, make_agent(), (), offset=3).size()


class TestRequest:
    async def test_the_agent_gets_the_row_the_settings_and_who_asks(
        self, solve: Any, scripted: Any, make_trial: Any, make_agent: Any
    ) -> None:
        seen = []

        async def look(ctx: RolloutContext) -> RolloutResult:
            seen.append(ctx.request)
            return ctx.complete([])

        trial = make_trial(row_index=12, repeat=3, slot="baseline")
        await solve(make_agent(look), scripted(), trial, max_turns=4, completion_params={"temperature": 0.5})
        (request,) = seen
        assert request.rollout_id == "eval-12-run-3-baseline"
        assert (request.max_turns, request.completion_params) == (4, {"temperature": 0.5})
        assert request.metadata == {
            "ground_truth": "4",
            "topic": "sums",
            "row_index": 12,
            "execution_mode": "eval",
            "run_index": 3,
            "model_tag": "baseline",
        }

    async def test_a_seed_among_the_parameters_is_that_of_the_repeat(
        self, solve: Any, scripted: Any, make_trial: Any, make_agent: Any
    ) -> None:
        session = scripted(scripted.says("4"))
        await solve(make_agent(), session, make_trial(repeat=3), completion_params={"seed": 42})
        ((_, params),) = session.asked
        assert params == {"seed": repeat_seed(42, 3)}

    async def test_parameters_reach_the_model_as_the_agent_passes_them_on(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        session = scripted(scripted.says("4"))
        await solve(make_agent(), session, completion_params={"temperature": 0.5})
        ((_, params),) = session.asked
        assert params == {"temperature": 0.5}


class TestOutcome:
    async def test_a_completed_rollout_is_answered_by_its_last_words(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        outcome = await solve(make_agent(), scripted(scripted.says("It is 4.")))
        assert (outcome.status, outcome.answer, outcome.reason) == (Status.ANSWERED, "It is 4.", None)
        assert [message["role"] for message in outcome.messages] == ["system", "user", "assistant"]

    async def test_the_agents_own_reward_and_finish_are_kept(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        async def give_up(ctx: RolloutContext) -> RolloutResult:
            return ctx.complete([], finish_reason="max_turns", reward=0.5)

        outcome = await solve(make_agent(give_up), scripted())
        assert outcome.artifacts == {"finish_reason": "max_turns", "reward": 0.5}
        assert outcome.status == Status.ANSWERED

    async def test_an_answer_that_was_cut_off_is_truncated(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        outcome = await solve(make_agent(), scripted(scripted.says("It is", finish_reason="length")))
        assert (outcome.status, outcome.answer) == (Status.TRUNCATED, "It is")

    @pytest.mark.parametrize("how", [{"refusal": "I cannot."}, {"finish_reason": "content_filter"}])
    async def test_a_refusal_is_refused(
        self, solve: Any, scripted: Any, make_agent: Any, how: dict[str, str]
    ) -> None:
        outcome = await solve(make_agent(), scripted(scripted.says("", **how)))
        assert outcome.status == Status.REFUSED

    async def test_an_agent_that_reports_an_error_failed_for_that_reason(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        async def stumble(ctx: RolloutContext) -> RolloutResult:
            return ctx.error("the page did not load", final_messages=ctx.request.messages)

        outcome = await solve(make_agent(stumble), scripted())
        assert (outcome.status, outcome.reason) == (Status.EXECUTION_ERROR, "the page did not load")
        assert len(outcome.messages) == 2

    @pytest.mark.parametrize("result", [None, "4", {"status": "COMPLETED"}])
    async def test_an_agent_must_return_a_result(
        self, solve: Any, scripted: Any, make_agent: Any, result: Any
    ) -> None:
        async def wrong(ctx: RolloutContext) -> Any:
            return result

        outcome = await solve(make_agent(wrong), scripted())
        assert outcome.status == Status.EXECUTION_ERROR
        assert "must return ctx.complete(...)" in outcome.reason

    async def test_an_agent_must_return_messages(self, solve: Any, scripted: Any, make_agent: Any) -> None:
        async def wrong(ctx: RolloutContext) -> RolloutResult:
            return ctx.complete(["4"])  # type: ignore[list-item]

        outcome = await solve(make_agent(wrong), scripted())
        assert outcome.status == Status.EXECUTION_ERROR
        assert "list of dicts" in outcome.reason

    async def test_tools_that_cannot_be_offered_fail_the_trial(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        outcome = await solve(make_agent(tools=["calculator"]), scripted())
        assert outcome.status == Status.EXECUTION_ERROR
        assert "Tool validation error: tool 0 is a str" in outcome.reason


OVERLOADED = ProviderError("the server is overloaded", http_status=503)
USED_UP = LimitReached("turns", 3)


class TestFailuresOfTheEndpoint:
    """Whose fault it was stays known, whatever the agent's code does with the exception."""

    @staticmethod
    async def wraps(ctx: RolloutContext) -> RolloutResult:
        try:
            await ctx.chat([])
        except Exception as error:
            raise RuntimeError("agent failed") from error
        return ctx.complete([])

    @staticmethod
    async def hides(ctx: RolloutContext) -> RolloutResult:
        try:
            await ctx.chat([])
        except Exception:
            raise RuntimeError("agent failed") from None
        return ctx.complete([])

    @staticmethod
    async def reports(ctx: RolloutContext) -> RolloutResult:
        try:
            await ctx.chat([])
        except Exception as error:
            return ctx.error(str(error))
        return ctx.complete([])

    @pytest.mark.parametrize("run", ["wraps", "hides", "reports"])
    @pytest.mark.parametrize(
        ("failure", "status"), [(OVERLOADED, Status.PROVIDER_ERROR), (USED_UP, Status.LIMIT)]
    )
    async def test_it_is_not_the_agents(
        self, solve: Any, scripted: Any, make_agent: Any, run: str, failure: Exception, status: Status
    ) -> None:
        outcome = await solve(make_agent(getattr(self, run)), scripted(failure))
        assert (outcome.status, outcome.reason) == (status, str(failure))

    async def test_an_agent_that_got_over_it_is_judged_by_what_came_after(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        async def persist(ctx: RolloutContext) -> RolloutResult:
            first = await self.reports(ctx)
            assert first.status == "ERROR"
            await ctx.chat([])
            return ctx.error("my own mistake")

        outcome = await solve(make_agent(persist), scripted(OVERLOADED, scripted.says("hi")))
        assert (outcome.status, outcome.reason) == (Status.EXECUTION_ERROR, "my own mistake")

    async def test_a_mistake_of_the_agents_code_is_its_own(
        self, solve: Any, scripted: Any, make_agent: Any
    ) -> None:
        async def trip(ctx: RolloutContext) -> RolloutResult:
            raise KeyError("title")

        outcome = await solve(make_agent(trip), scripted())
        assert (outcome.status, outcome.reason) == (Status.EXECUTION_ERROR, "KeyError: 'title'")


AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop
class Mine(RolloutAgentLoop):
    name = "mine"
    def get_tools(self, request): return []
    async def run(self, ctx): return ctx.complete([])
"""


class TestFingerprint:
    @staticmethod
    def fingerprint(dataset: Path, **options: Any) -> str:
        task = AgentTask(dataset, load_agent("server:agent"), (), module="server:agent", **options)
        return task.spec.fingerprint

    @pytest.fixture(autouse=True)
    def written(self, project: Write) -> None:
        project("mine.py", AGENT)
        project("server.py", "from mine import Mine\nagent = Mine()\n")

    def test_is_the_same_for_the_same_agent(self, dataset: Path) -> None:
        assert self.fingerprint(dataset) == self.fingerprint(dataset)

    @pytest.mark.parametrize("options", [{"max_turns": 3}, {"completion_params": {"temperature": 1.0}}])
    def test_changes_with_the_settings(self, dataset: Path, options: dict[str, Any]) -> None:
        assert self.fingerprint(dataset, **options) != self.fingerprint(dataset)

    @pytest.mark.parametrize("options", [{"limit": 1}, {"offset": 1}, {"group_by": "topic"}])
    def test_does_not_change_with_the_choice_of_rows(self, dataset: Path, options: dict[str, Any]) -> None:
        assert self.fingerprint(dataset, **options) == self.fingerprint(dataset)

    @pytest.mark.parametrize("name", ["mine.py", "server.py"])
    def test_changes_with_the_agents_code_and_with_the_module_that_made_it(
        self, dataset: Path, project: Write, name: str
    ) -> None:
        before = self.fingerprint(dataset)
        path = dataset.parent / name
        project(name, path.read_text() + "# changed\n")
        assert self.fingerprint(dataset) != before
