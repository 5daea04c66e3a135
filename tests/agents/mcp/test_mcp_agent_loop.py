"""The documented agent over a FastMCP server, run the way that every documented agent is run."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import fastmcp
import pytest

from benchwright.agents.rollout.types import RolloutRequest
from benchwright.agents.rollout_requests import dataset_row_to_request, validate_tools
from benchwright.agents.session_llm import SessionLLM
from benchwright.errors import ProviderError
from osmosis_ai.rollout import RolloutAgentLoop, RolloutContext, RolloutResult
from osmosis_ai.rollout.mcp import MCPAgentLoop, load_mcp_server

EXAMPLE = Path(__file__).parents[3] / "examples" / "mcp"


@pytest.fixture
def agent(own_imports: None) -> MCPAgentLoop:
    return MCPAgentLoop(load_mcp_server(EXAMPLE))


@pytest.fixture
def run(row: dict[str, Any]) -> Any:
    """One rollout of the agent over the row, with a scripted model."""

    async def roll_out(agent: RolloutAgentLoop, session: Any, **options: Any) -> RolloutResult:
        request = dataset_row_to_request(row, 0, **options)
        llm = SessionLLM(session)
        tools = agent.get_tools(request)
        validate_tools(tools)
        llm.set_tools(tools)
        return await agent.run(RolloutContext(request, tools, llm))

    return roll_out


class TestTools:
    def test_are_those_of_the_server(self, agent: MCPAgentLoop) -> None:
        tools = agent.get_default_tools()
        assert [tool.function.name for tool in tools] == ["calculate", "lookup"]
        validate_tools(tools)

    async def test_are_known_also_where_an_event_loop_runs(self, agent: MCPAgentLoop) -> None:
        assert len(MCPAgentLoop(load_mcp_server(EXAMPLE)).get_default_tools()) == 2

    def test_keep_their_whole_schemas(self) -> None:
        server = fastmcp.FastMCP("tested")

        @server.tool()
        def total(prices: list[int], currency: str | None = None) -> int:
            return sum(prices)

        (tool,) = MCPAgentLoop(server).get_default_tools()
        parameters = tool.model_dump(exclude_none=True)["function"]["parameters"]
        assert parameters["properties"]["prices"]["items"] == {"type": "integer"}
        assert parameters["properties"]["currency"]["default"] is None
        assert parameters["required"] == ["prices"]


class TestRollout:
    async def test_works_with_the_tools_until_the_model_answers(
        self, agent: MCPAgentLoop, run: Any, scripted: Any
    ) -> None:
        session = scripted(scripted.calls("calculate", expression="(2 + 3) * 4"), scripted.says("20"))
        result = await run(agent, session, completion_params={"temperature": 0.5})
        assert (result.status, result.finish_reason) == ("COMPLETED", "stop")
        assert [message["role"] for message in result.final_messages] == [
            *("system", "user", "assistant", "tool", "assistant")
        ]
        assert result.final_messages[3]["content"] == "20"
        assert [params["temperature"] for _, params in session.asked] == [0.5, 0.5]

    async def test_counts_and_times_every_call(self, agent: MCPAgentLoop, run: Any, scripted: Any) -> None:
        session = scripted(
            scripted.calls("lookup", key="pi"), scripted.calls("browse"), scripted.says("3.14159")
        )
        result = await run(agent, session)
        assert (result.metrics.num_tool_calls, result.metrics.num_llm_calls) == (2, 3)
        assert result.metrics.tool_latency_ms > 0

    async def test_is_complete_also_when_the_turns_are_used_up(
        self, agent: MCPAgentLoop, run: Any, scripted: Any
    ) -> None:
        session = scripted(*(scripted.calls("lookup", key="e") for _ in range(2)))
        result = await run(agent, session, max_turns=2)
        assert (result.status, result.finish_reason) == ("COMPLETED", "max_turns")

    async def test_a_failure_of_the_endpoint_is_passed_on(
        self, agent: MCPAgentLoop, run: Any, scripted: Any
    ) -> None:
        with pytest.raises(ProviderError):
            await run(agent, scripted(ProviderError("the server is overloaded")))

    async def test_many_run_at_the_same_time(self, agent: MCPAgentLoop, run: Any, scripted: Any) -> None:
        async def one(number: int) -> str:
            session = scripted(scripted.calls("calculate", expression=f"{number} + 1"), scripted.says("done"))
            return str((await run(agent, session)).final_messages[3]["content"])

        assert await asyncio.gather(*(one(number) for number in range(20))) == [
            str(number + 1) for number in range(20)
        ]

    def test_its_name_is_the_documented_one_unless_another_is_given(self, agent: MCPAgentLoop) -> None:
        assert agent.name == MCPAgentLoop.name == "mcp_agent"
        assert MCPAgentLoop(load_mcp_server(EXAMPLE), agent_name="mine").name == "mine"


class TestExample:
    """examples/mcp: nothing that a model writes is ever executed."""

    @staticmethod
    async def told(agent: MCPAgentLoop, run: Any, scripted: Any, name: str, **arguments: str) -> str:
        result = await run(agent, scripted(scripted.calls(name, **arguments), scripted.says("")))
        return str(result.final_messages[3]["content"])

    async def test_works_out_every_sum_of_the_dataset(
        self, agent: MCPAgentLoop, run: Any, scripted: Any
    ) -> None:
        for line in (EXAMPLE.parent / "arithmetic.jsonl").read_text().splitlines():
            row = json.loads(line)
            text = await self.told(agent, run, scripted, "calculate", expression=row["expression"])
            assert float(text) == pytest.approx(float(row["ground_truth"])), row

    @pytest.mark.parametrize(
        "expression",
        [
            "__import__('os').getcwd()",
            "x + 1",
            "'a' * 3",
            "2 +",
            "9 ** 9 ** 9",
            "10 ** 99 * 100",
            "(-8) ** 0.5",
        ],
    )
    async def test_refuses_what_is_no_arithmetic(
        self, agent: MCPAgentLoop, run: Any, scripted: Any, expression: str
    ) -> None:
        assert "Error: " in await self.told(agent, run, scripted, "calculate", expression=expression)

    @pytest.mark.parametrize(
        ("key", "found"), [("Pi", "3.14159265358979"), ("tau", "not found; known are: pi")]
    )
    async def test_looks_constants_up(
        self, agent: MCPAgentLoop, run: Any, scripted: Any, key: str, found: str
    ) -> None:
        assert (await self.told(agent, run, scripted, "lookup", key=key)).startswith(found)


def test_a_request_without_tools_is_possible_for_a_server_without_any() -> None:
    request = RolloutRequest(rollout_id="r", server_url="http://x", messages=[], completion_params={})
    assert MCPAgentLoop(fastmcp.FastMCP("empty")).get_tools(request) == []
