"""`EvalRunner` and `BenchRunner`: which runs there are, in which order, with which clients, until when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from benchwright.agents.eval_fns import EvalFnError, EvalFnWrapper
from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.runners.bench import BenchRunner
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.errors import ProviderError, SystemicProviderError
from benchwright.agents.runners.evaluation import EvalRunner
from benchwright.endpoint.simulate import SimulatedEndpoint
from benchwright.errors import UserError

Messages = list[dict[str, Any]]


def failing_at(number: str, error: Exception) -> Callable[[Messages], Any]:
    """A model that fails at this row and gets all others right."""
    return lambda messages: (
        error if number in messages[-1]["content"] else messages[-1]["content"].strip("Say .")
    )


class TestOrder:
    async def test_results_come_by_row_and_run(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        async def later_rows_first(ctx: RolloutContext) -> RolloutResult:
            await asyncio.sleep(0.01 / (1 + ctx.request.metadata["row_index"]))
            return ctx.complete([])

        runner = EvalRunner(
            make_agent(later_rows_first), fake_client(), [exact], llm_client_factory=fake_client
        )
        result = await runner.run_eval(make_rows(3), n_runs=2, start_index=5, batch_size=6)
        assert [row.row_index for row in result.rows] == [5, 6, 7]
        for row in result.rows:
            assert [(run.row_index, run.run_index) for run in row.runs] == [
                (row.row_index, 0),
                (row.row_index, 1),
            ]

    async def test_within_a_row_the_primary_comes_before_the_baseline(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        runner = EvalRunner(make_agent(), fake_client(), [exact], baseline_llm_client=fake_client())
        assert runner.has_baseline
        result = await runner.run_eval(make_rows(2), n_runs=2)
        for row in result.rows:
            assert [(run.model_tag, run.run_index) for run in row.runs] == [
                ("primary", 0),
                ("primary", 1),
                ("baseline", 0),
                ("baseline", 1),
            ]

    async def test_with_one_model_runs_have_no_tag(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        runner = EvalRunner(make_agent(), fake_client(), [exact])
        result = await runner.run_eval(make_rows(1))
        assert not runner.has_baseline
        assert result.rows[0].runs[0].model_tag is None
        assert result.model_summaries is None

    async def test_progress_is_told_after_every_run_of_every_model(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        seen: list[Any] = []
        runner = EvalRunner(make_agent(), fake_client(), [exact], baseline_llm_client=fake_client())
        result = await runner.run_eval(
            make_rows(2), n_runs=3, on_progress=lambda *progress: seen.append(progress)
        )
        assert [(current, total) for current, total, _ in seen] == [(n, 12) for n in range(1, 13)]
        told = {(run.row_index, run.model_tag, run.run_index) for _, _, run in seen}
        assert told == {
            (run.row_index, run.model_tag, run.run_index) for row in result.rows for run in row.runs
        }

    async def test_no_rows_come_to_nothing(self, make_agent: Any, fake_client: Any, exact: Any) -> None:
        result = await EvalRunner(make_agent(), fake_client(), [exact]).run_eval([], n_runs=5)
        assert (result.rows, result.total_rows, result.total_runs, result.total_tokens) == ([], 0, 0, 0)
        assert result.eval_summaries["exact"].mean == 0.0

    @pytest.mark.parametrize("numbers", [{"n_runs": 0}, {"batch_size": 0}])
    async def test_numbers_that_make_no_sense_are_refused(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any, numbers: dict[str, Any]
    ) -> None:
        with pytest.raises(ValueError, match="must be >= 1, got 0"):
            await EvalRunner(make_agent(), fake_client(), [exact]).run_eval(make_rows(1), **numbers)


class TestWhatTheAgentSees:
    @staticmethod
    async def requests_of(make_agent: Any, run: Callable[[Any], Any]) -> list[Any]:
        seen = []

        async def look(ctx: RolloutContext) -> RolloutResult:
            seen.append(ctx.request)
            return ctx.complete([])

        await run(make_agent(look))
        return seen

    async def test_an_evaluation_with_a_baseline(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        async def run(agent: Any) -> None:
            runner = EvalRunner(agent, fake_client(), [], baseline_llm_client=fake_client())
            await runner.run_eval(make_rows(1), max_turns=4, completion_params={"top_p": 0.9}, start_index=3)

        primary, baseline = await self.requests_of(make_agent, run)
        assert (primary.rollout_id, baseline.rollout_id) == ("eval-3-run-0-primary", "eval-3-run-0-baseline")
        assert (primary.max_turns, primary.completion_params) == (4, {"top_p": 0.9})
        common = {"ground_truth": "0", "row_index": 3, "execution_mode": "eval", "run_index": 0}
        assert primary.metadata == common
        assert baseline.metadata == common | {"model_tag": "baseline"}

    async def test_a_bench(self, make_agent: Any, fake_client: Any, make_rows: Any) -> None:
        async def run(agent: Any) -> None:
            await BenchRunner(agent, fake_client(), []).run_bench(make_rows(1), n_runs=2)

        requests = await self.requests_of(make_agent, run)
        assert [request.rollout_id for request in requests] == ["bench-0-run-0", "bench-0-run-1"]
        assert {request.metadata["execution_mode"] for request in requests} == {"bench"}


class TestClients:
    async def test_one_run_at_a_time_uses_the_client_itself(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client()
        await EvalRunner(make_agent(), client, [exact], llm_client_factory=fake_client).run_eval(make_rows(3))
        assert (client.calls.count("chat"), client.closed) == (3, 0)

    async def test_several_at_a_time_have_clients_of_their_own_which_are_closed(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client, made = fake_client(), []

        def factory() -> Any:
            made.append(fake_client())
            return made[-1]

        runner = EvalRunner(make_agent(), client, [exact], llm_client_factory=factory)
        result = await runner.run_eval(make_rows(8), batch_size=3)
        assert result.eval_summaries["exact"].mean == 1.0
        assert (len(made), client.calls) == (3, [])
        assert sum(one.calls.count("chat") for one in made) == 8
        assert {one.most_busy for one in made} == {1}
        assert {one.closed for one in made} == {1}

    async def test_each_model_has_its_own_factory(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        runner = EvalRunner(
            make_agent(),
            fake_client(),
            [exact],
            llm_client_factory=lambda: fake_client(lambda messages: "0"),
            baseline_llm_client=fake_client(),
            baseline_llm_client_factory=lambda: fake_client(lambda messages: "wrong"),
        )
        result = await runner.run_eval(make_rows(1), n_runs=4, batch_size=2)
        assert result.model_summaries is not None
        means = {one.model_tag: one.eval_summaries["exact"].mean for one in result.model_summaries}
        assert means == {"primary": 1.0, "baseline": 0.0}

    async def test_a_client_that_nobody_can_make_more_of_serves_one_at_a_time(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        with pytest.raises(UserError, match=r"A FakeClient serves one run at a time: .*llm_client_factory"):
            await EvalRunner(make_agent(), fake_client(), [exact]).run_eval(make_rows(1), batch_size=2)

    async def test_the_documented_client_is_cloned_and_keeps_its_own_count(
        self, make_agent: Any, exact: Any, make_rows: Any
    ) -> None:
        async with (
            SimulatedEndpoint() as endpoint,
            ExternalLLMClient("my-org/mine", api_base=endpoint.base_url) as client,
        ):
            result = await EvalRunner(make_agent(), client, [exact]).run_eval(make_rows(5), batch_size=4)
            assert endpoint.stats.requests == 5
        assert client.get_metrics().num_llm_calls == 0
        assert all(run.success for row in result.rows for run in row.runs)

    async def test_the_model_has_as_many_requests_as_there_are_runs_at_a_time(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        under_way = most = 0

        async def hold(ctx: RolloutContext) -> RolloutResult:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.001)
            under_way -= 1
            return ctx.complete([])

        runner = EvalRunner(make_agent(hold), fake_client(), [], llm_client_factory=fake_client)
        await runner.run_eval(make_rows(40), batch_size=7)
        assert most == 7


class TestStopping:
    async def test_a_failed_run_ends_nothing_and_has_no_scores(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client(failing_at("1", ProviderError("LLM API error (HTTP 500): overloaded")))
        result = await EvalRunner(make_agent(), client, [exact]).run_eval(make_rows(3))
        runs = [row.runs[0] for row in result.rows]
        assert [run.success for run in runs] == [True, False, True]
        assert (runs[1].scores, runs[1].error) == ({}, "LLM API error (HTTP 500): overloaded")
        assert result.stopped_early is False

    @pytest.mark.parametrize("runner_class", [EvalRunner, BenchRunner])
    async def test_a_systemic_error_leaves_the_rest_undone(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any, runner_class: type[EvalRunner]
    ) -> None:
        client = fake_client(failing_at("2", SystemicProviderError("the key was refused")))
        seen: list[int] = []
        result = await runner_class(make_agent(), client, [exact]).run_eval(
            make_rows(6), on_progress=lambda current, total, run: seen.append(current)
        )
        assert (result.stopped_early, result.stop_reason) == (True, "the key was refused")
        assert [row.row_index for row in result.rows] == [0, 1, 2]
        assert (result.total_rows, result.total_runs, seen) == (3, 3, [1, 2, 3])
        last = result.rows[-1].runs[0]
        assert (last.success, last.error) == (False, "the key was refused")
        assert last.duration_ms > 0

    async def test_what_is_under_way_when_it_stops_is_finished(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        begun, refused = asyncio.Event(), asyncio.Event()

        async def slow_but_for_the_first(ctx: RolloutContext) -> RolloutResult:
            if ctx.request.metadata["row_index"] == 0:
                await begun.wait()
                refused.set()
                raise SystemicProviderError("unknown model")
            if ctx.request.metadata["row_index"] == 2:
                begun.set()
            await refused.wait()
            return ctx.complete([])

        runner = EvalRunner(
            make_agent(slow_but_for_the_first), fake_client(), [], llm_client_factory=fake_client
        )
        result = await runner.run_eval(make_rows(20), batch_size=3)
        assert [run.success for row in result.rows for run in row.runs] == [False, True, True]

    async def test_a_systemic_error_in_the_last_run_stops_nothing(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client(failing_at("1", SystemicProviderError("the key was refused")))
        result = await EvalRunner(make_agent(), client, [exact]).run_eval(make_rows(2))
        assert (result.stopped_early, result.stop_reason, result.total_runs) == (False, None, 2)

    async def test_ten_failures_alike_are_not_systemic(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client(lambda messages: ProviderError("LLM API error (HTTP 400): no"))
        result = await EvalRunner(make_agent(), client, [exact]).run_eval(make_rows(15))
        assert (result.total_runs, result.stopped_early) == (15, False)


class TestEvalFunctions:
    async def test_one_that_raises_scores_0_is_logged_and_fails_no_run(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        def broken(messages: Messages, ground_truth: str, metadata: dict[str, Any]) -> float:
            raise ZeroDivisionError("no words")

        runner = EvalRunner(make_agent(), fake_client(), [EvalFnWrapper(broken, "broken"), exact])
        result = await runner.run_eval(make_rows(1))
        (run,) = result.rows[0].runs
        assert (run.success, run.scores) == (True, {"broken": 0.0, "exact": 1.0})
        assert "Eval function 'broken' failed on row 0 run 0: no words" in caplog.text

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), "good"])
    async def test_so_does_one_that_returns_no_number(
        self, make_agent: Any, fake_client: Any, make_rows: Any, value: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def odd(solution_str: str, ground_truth: str, extra_info: dict[str, Any]) -> Any:
            return value

        result = await EvalRunner(make_agent(), fake_client(), [EvalFnWrapper(odd, "odd")]).run_eval(
            make_rows(1)
        )
        assert result.eval_summaries["odd"].mean == 0.0
        assert "Eval function 'odd' failed" in caplog.text

    async def test_it_gets_the_conversation_and_the_whole_row(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        got: list[Any] = []

        def look(messages: Messages, ground_truth: str, metadata: dict[str, Any]) -> float:
            got.extend([messages, ground_truth, metadata])
            return 1.0

        (row,) = [row | {"topic": "numbers"} for row in make_rows(1)]
        result = await EvalRunner(make_agent(), fake_client(), [EvalFnWrapper(look, "look")]).run_eval([row])
        assert [message["role"] for message in got[0]] == ["system", "user", "assistant"]
        assert got[1:] == ["0", row]
        assert result.rows[0].runs[0].messages == got[0]


class TestASingleRun:
    async def test_is_scored_like_any_other(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        run = await EvalRunner(make_agent(), fake_client(), [exact]).run_single(
            make_rows(1)[0], row_index=0, run_index=2
        )
        assert (run.row_index, run.run_index, run.success, run.scores) == (0, 2, True, {"exact": 1.0})
        assert (run.tokens, run.error, run.model_tag) == (10, None, None)

    async def test_can_be_the_baselines(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        baseline = fake_client()
        runner = EvalRunner(make_agent(), fake_client(), [exact], baseline_llm_client=baseline)
        run = await runner.run_single(make_rows(1)[0], 0, 0, model_tag="baseline")
        assert run.model_tag == "baseline"
        assert baseline.calls.count("chat") == 1

    async def test_raises_what_is_systemic(
        self, make_agent: Any, fake_client: Any, exact: Any, make_rows: Any
    ) -> None:
        client = fake_client(lambda messages: SystemicProviderError("the key was refused"))
        with pytest.raises(SystemicProviderError):
            await EvalRunner(make_agent(), client, [exact]).run_single(make_rows(1)[0], 0, 0)


def test_an_eval_function_of_neither_shape_is_refused() -> None:
    with pytest.raises(EvalFnError, match="first parameter is 'text'"):
        EvalFnWrapper(lambda text: 1.0, "mine")
