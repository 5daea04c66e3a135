"""`LocalRolloutRunner` and `LocalTestRunner`: an agent over rows, without scores."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.rollout.context import RolloutContext, RolloutResult
from benchwright.agents.rollout.types import OpenAIFunctionSchema, OpenAIFunctionToolSchema
from benchwright.agents.runners.client import ExternalLLMClient
from benchwright.agents.runners.errors import LocalExecutionError, ProviderError, SystemicProviderError
from benchwright.agents.runners.rollouts import LocalRolloutRunner
from benchwright.agents.runners.test_mode import (
    LocalTestBatchResult,
    LocalTestRunner,
    LocalTestRunResult,
)
from benchwright.endpoint.simulate import Settings, SimulatedEndpoint

CLOSED_PORT = "http://127.0.0.1:9/v1"


class TestASingleRow:
    async def test_a_completed_rollout_is_a_success(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        result = await LocalRolloutRunner(make_agent(), fake_client()).run_single(make_rows(3)[2], 2)
        assert (result.row_index, result.success, result.error) == (2, True, None)
        assert result.result is not None
        assert result.result.final_messages[-1]["content"] == "2"
        assert result.duration_ms > 0
        assert result.token_usage == {
            "prompt_tokens": 7,
            "completion_tokens": 3,
            "total_tokens": 10,
            "num_llm_calls": 1,
        }

    async def test_the_client_is_made_ready_before_and_left_without_tools(
        self, make_agent: Any, fake_client: Any, row: Any
    ) -> None:
        tool = OpenAIFunctionToolSchema(
            type="function", function=OpenAIFunctionSchema(name="now", description="The time.")
        )
        client = fake_client()
        await LocalRolloutRunner(make_agent(tools=[tool]), client).run_single(row, 0)
        before, after = client.calls[: client.calls.index("chat")], client.calls[client.calls.index("chat") :]
        assert before == ["reset_metrics", "clear_tools", "set_tools"]
        assert "clear_tools" in after
        assert client.tools == []

    async def test_the_request_says_who_asks(self, make_agent: Any, fake_client: Any, row: Any) -> None:
        seen = []

        async def look(ctx: RolloutContext) -> RolloutResult:
            seen.append(ctx.request)
            return ctx.complete([])

        runner = LocalRolloutRunner(
            make_agent(look), fake_client(), rollout_id_prefix="mine", request_metadata={"who": "me"}
        )
        await runner.run_single(row, 7, max_turns=3, completion_params={"temperature": 0.5})
        (request,) = seen
        assert (request.rollout_id, request.max_turns) == ("mine-7", 3)
        assert request.completion_params == {"temperature": 0.5}
        assert request.metadata == {"ground_truth": "4", "topic": "sums", "row_index": 7, "who": "me"}

    async def test_what_the_agent_raises_fails_the_row_and_its_tokens_count(
        self, make_agent: Any, fake_client: Any, row: Any
    ) -> None:
        async def stumble(ctx: RolloutContext) -> RolloutResult:
            await ctx.chat(ctx.request.messages)
            raise ValueError("the page did not load")

        result = await LocalRolloutRunner(make_agent(stumble), fake_client()).run_single(row, 0)
        assert (result.success, result.error) == (False, "the page did not load")
        assert result.token_usage["total_tokens"] == 10

    @pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), KeyError()])
    async def test_so_does_an_exception_without_words(
        self, make_agent: Any, fake_client: Any, row: Any, error: BaseException
    ) -> None:
        async def stumble(ctx: RolloutContext) -> RolloutResult:
            raise error

        result = await LocalRolloutRunner(make_agent(stumble), fake_client()).run_single(row, 0)
        assert not result.success
        assert result.error in ("3", type(error).__name__)

    async def test_an_agent_that_reports_an_error_failed_for_that_reason(
        self, make_agent: Any, fake_client: Any, row: Any
    ) -> None:
        async def report(ctx: RolloutContext) -> RolloutResult:
            return ctx.error("out of ideas", final_messages=ctx.request.messages)

        result = await LocalRolloutRunner(make_agent(report), fake_client()).run_single(row, 0)
        assert (result.success, result.error) == (False, "out of ideas")
        assert result.result is not None
        assert len(result.result.final_messages) == 2

    async def test_tools_that_cannot_be_offered_fail_the_row(
        self, make_agent: Any, fake_client: Any, row: Any
    ) -> None:
        tool = OpenAIFunctionToolSchema(
            type="function", function=OpenAIFunctionSchema(name="web-search", description="Searches.")
        )
        client = fake_client()
        result = await LocalRolloutRunner(make_agent(tools=[tool]), client).run_single(row, 0)
        assert result.error is not None
        assert result.error.startswith("Tool validation error: ")
        assert "web-search" in result.error
        assert "chat" not in client.calls

    @pytest.mark.parametrize(
        ("returned", "words"),
        [
            (None, "must return ctx.complete"),
            (RolloutResult("COMPLETED", ["4"], "stop"), "list of dicts"),  # type: ignore[list-item]
        ],
    )
    async def test_an_agent_must_return_a_result_with_messages(
        self, make_agent: Any, fake_client: Any, row: Any, returned: Any, words: str
    ) -> None:
        async def wrong(ctx: RolloutContext) -> Any:
            return returned

        result = await LocalRolloutRunner(make_agent(wrong), fake_client()).run_single(row, 0)
        assert not result.success
        assert words in str(result.error)

    async def test_events_of_the_agent_are_written_to_the_debug_directory(
        self, make_agent: Any, fake_client: Any, row: Any, tmp_path: Path
    ) -> None:
        async def note(ctx: RolloutContext) -> RolloutResult:
            ctx.log_event("began", turn=1)
            return ctx.complete([])

        runner = LocalRolloutRunner(make_agent(note), fake_client(), debug_dir=str(tmp_path))
        await runner.run_single(row, 4)
        event = json.loads((tmp_path / "local-4.jsonl").read_text())
        assert event == {"event": "began", "rollout_id": "local-4", "turn": 1}

    def test_debug_has_a_directory_of_its_own(self, make_agent: Any, fake_client: Any) -> None:
        agent, client = make_agent(), fake_client()
        assert LocalRolloutRunner(agent, client).debug_dir is None
        assert LocalRolloutRunner(agent, client, debug=True).debug_dir == "./local_debug"
        assert LocalTestRunner(agent, client, debug=True).debug_dir == "./test_debug"
        assert LocalTestRunner(agent, client, True, "there").debug_dir == "there"


class TestSystemicFailures:
    """No further row could do better, whatever the agent makes of the exception."""

    @staticmethod
    async def passes_on(ctx: RolloutContext) -> RolloutResult:
        await ctx.chat(ctx.request.messages)
        return ctx.complete([])

    @staticmethod
    async def wraps(ctx: RolloutContext) -> RolloutResult:
        try:
            await ctx.chat(ctx.request.messages)
        except Exception:
            raise RuntimeError("agent failed") from None
        return ctx.complete([])

    @staticmethod
    async def reports(ctx: RolloutContext) -> RolloutResult:
        try:
            await ctx.chat(ctx.request.messages)
        except LocalExecutionError as error:
            return ctx.error(str(error))
        return ctx.complete([])

    @pytest.mark.parametrize("run", ["passes_on", "wraps", "reports"])
    async def test_are_raised(self, make_agent: Any, row: Any, run: str) -> None:
        client = ExternalLLMClient("mine", api_base=CLOSED_PORT)
        runner = LocalRolloutRunner(make_agent(getattr(self, run)), client)
        with pytest.raises(SystemicProviderError, match="Cannot connect") as raised:
            await runner.run_single(row, 0)
        assert raised.value.duration_ms > 0
        assert raised.value.tokens == 0

    async def test_are_no_affair_of_an_agent_that_found_a_way_around(self, make_agent: Any, row: Any) -> None:
        async def copes(ctx: RolloutContext) -> RolloutResult:
            try:
                await ctx.chat(ctx.request.messages)
            except ProviderError:
                return ctx.complete([{"role": "assistant", "content": "I guess 4."}])
            raise AssertionError

        client = ExternalLLMClient("mine", api_base=CLOSED_PORT)
        assert (await LocalRolloutRunner(make_agent(copes), client).run_single(row, 0)).success


class TestABatch:
    async def test_rows_are_run_one_after_the_other(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        client, seen = fake_client(), []
        batch = await LocalTestRunner(make_agent(), client).run_batch(
            make_rows(4), on_progress=lambda *progress: seen.append(progress), start_index=10
        )
        assert isinstance(batch, LocalTestBatchResult)
        assert all(isinstance(result, LocalTestRunResult) for result in batch.results)
        assert [result.row_index for result in batch.results] == [10, 11, 12, 13]
        assert seen == [(number, 4, result) for number, result in enumerate(batch.results, 1)]
        assert (batch.total, batch.passed, batch.failed, batch.total_tokens) == (4, 4, 0, 40)
        assert (batch.stopped_early, batch.stop_reason) == (False, None)
        assert batch.total_duration_ms > 0
        assert client.most_busy == 1

    async def test_a_row_that_fails_ends_nothing(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        def answer(messages: list[dict[str, Any]]) -> Any:
            return ProviderError("overloaded") if "1" in messages[-1]["content"] else "fine"

        batch = await LocalTestRunner(make_agent(), fake_client(answer)).run_batch(make_rows(3))
        assert [result.success for result in batch.results] == [True, False, True]
        assert (batch.passed, batch.failed, batch.results[1].error) == (2, 1, "overloaded")

    async def test_a_systemic_error_ends_the_batch(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        def answer(messages: list[dict[str, Any]]) -> Any:
            return SystemicProviderError("wrong key") if "1" in messages[-1]["content"] else "fine"

        batch = await LocalTestRunner(make_agent(), fake_client(answer)).run_batch(make_rows(3))
        assert [result.success for result in batch.results] == [True, False]
        assert (batch.stopped_early, batch.stop_reason) == (True, "wrong key")
        assert batch.results[1].error == "wrong key"

    async def test_rollouts_and_requests_say_that_it_is_a_test(
        self, make_agent: Any, fake_client: Any, make_rows: Any
    ) -> None:
        seen = []

        async def look(ctx: RolloutContext) -> RolloutResult:
            seen.append((ctx.request.rollout_id, ctx.request.metadata))
            return ctx.complete([])

        await LocalTestRunner(make_agent(look), fake_client()).run_batch(make_rows(1), start_index=5)
        metadata = {"ground_truth": "0", "row_index": 5, "execution_mode": "test", "test_mode": True}
        assert seen == [("test-5", metadata)]

    async def test_tokens_are_those_that_the_server_counted(self, make_agent: Any, make_rows: Any) -> None:
        async with (
            SimulatedEndpoint(Settings(policy="words", words=5)) as endpoint,
            ExternalLLMClient("mine", api_base=endpoint.base_url) as client,
        ):
            batch = await LocalTestRunner(make_agent(), client).run_batch(make_rows(6))
            stats = endpoint.stats
        assert batch.total_tokens == stats.prompt_tokens + stats.generation_tokens
        assert stats.requests == 6
