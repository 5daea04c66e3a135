"""A model with a directory of MCP tools over a dataset."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchwright.agents.mcp.loading import MCPLoadError
from benchwright.agents.mcp.task import McpTask
from benchwright.data.errors import DatasetValidationError
from benchwright.errors import ProviderError
from benchwright.records import Outcome, Status

Write = Callable[..., Path]

TOOLS = """
from fastmcp import FastMCP
mcp = FastMCP("tools")

@mcp.tool()
def add(first: int, second: int) -> int:
    "Adds."
    return first + second

@mcp.tool()
def fail() -> str:
    raise ValueError("out of order")
"""


@pytest.fixture
def dataset(tmp_path: Path, row: dict[str, Any]) -> Path:
    path = tmp_path / "data.jsonl"
    rows = [row | {"topic": topic} for topic in ("sums", "sums", "products")]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def directory(tool_directory: Write) -> Path:
    return tool_directory(TOOLS)


@pytest.fixture
def solve(dataset: Path, directory: Path, make_trial: Any) -> Any:
    async def run(session: Any, **options: Any) -> Outcome:
        async with McpTask(directory, dataset, (), **options).open() as solver:
            return await solver.solve(make_trial(), session)

    return run


class TestSamples:
    def test_each_row_is_a_sample_under_its_place_in_the_file(self, directory: Path, dataset: Path) -> None:
        task = McpTask(directory, dataset, (), limit=1, offset=1, group_by="topic")
        (sample,) = task.samples()
        assert (sample.id, sample.group, sample.content["ground_truth"]) == ("1", "sums", "4")
        assert task.size() == 1

    def test_every_row_is_checked_before_anything_runs(self, directory: Path, dataset: Path) -> None:
        dataset.write_text(dataset.read_text() + '{"user_prompt": "?"}\n')
        with pytest.raises(DatasetValidationError, match="Row 3: Missing required columns"):
            McpTask(directory, dataset, ()).size()


class TestConversation:
    async def test_starts_with_the_rows_prompts_and_offers_the_tools(self, solve: Any, scripted: Any) -> None:
        session = scripted(scripted.says("4"))
        await solve(session, completion_params={"temperature": 0.5})
        ((messages, params),) = session.asked
        assert messages == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "2 + 2?"},
        ]
        assert [tool["function"]["name"] for tool in params["tools"]] == ["add", "fail"]
        assert params["temperature"] == 0.5

    async def test_goes_on_with_what_the_tools_returned(self, solve: Any, scripted: Any) -> None:
        session = scripted(scripted.calls("add", first=2, second=2), scripted.says("It is 4."))
        outcome = await solve(session)
        assert (outcome.status, outcome.answer) == (Status.ANSWERED, "It is 4.")
        assert outcome.messages[3] == {"role": "tool", "tool_call_id": "call_1", "content": "4"}
        assert outcome.artifacts == {"finish_reason": "stop"}
        assert session.shown == ["turn 1: add"]

    @pytest.mark.parametrize(
        ("name", "arguments", "told"),
        [
            ("fail", {}, "out of order"),
            ("browse", {}, "browse"),
            ("add", {"first": "two", "second": 2}, "valid integer"),
            ("add", {"first": 2}, "second"),
        ],
    )
    async def test_the_model_is_told_what_went_wrong_and_may_try_again(
        self, solve: Any, scripted: Any, name: str, arguments: dict[str, Any], told: str
    ) -> None:
        session = scripted(scripted.calls(name, **arguments), scripted.says("I cannot tell."))
        outcome = await solve(session)
        assert outcome.status == Status.ANSWERED
        text = outcome.messages[3]["content"]
        assert text.startswith("Error: ")
        assert told in text

    async def test_out_of_turns_it_has_reached_a_limit(self, solve: Any, scripted: Any) -> None:
        session = scripted(*(scripted.calls("add", first=1, second=turn) for turn in range(2)))
        outcome = await solve(session, max_turns=2)
        assert (outcome.status, outcome.artifacts) == (Status.LIMIT, {"finish_reason": "max_turns"})
        assert [message["role"] for message in outcome.messages][-2:] == ["assistant", "tool"]

    async def test_a_failure_of_the_endpoint_is_not_the_tools(self, solve: Any, scripted: Any) -> None:
        with pytest.raises(ProviderError, match="overloaded"):
            await solve(scripted(ProviderError("the server is overloaded", http_status=503)))


class TestServer:
    def test_a_directory_without_one_is_told_of_at_once(self, tool_directory: Write, dataset: Path) -> None:
        with pytest.raises(MCPLoadError, match="No FastMCP instance found"):
            McpTask(tool_directory("x = 1"), dataset, ())

    async def test_one_without_tools_is_of_no_use(self, tool_directory: Write, dataset: Path) -> None:
        directory = tool_directory('from fastmcp import FastMCP\nmcp = FastMCP("empty")')
        with pytest.raises(MCPLoadError, match=r"has no tools; add functions to it with @mcp\.tool\(\)"):
            async with McpTask(directory, dataset, ()).open():
                pass


class TestFingerprint:
    def test_is_the_same_for_the_same_tools_wherever_they_lie(
        self, tool_directory: Write, dataset: Path
    ) -> None:
        fingerprints = {
            McpTask(tool_directory(TOOLS, name=name), dataset, ()).spec.fingerprint for name in ("one", "two")
        }
        assert len(fingerprints) == 1

    @pytest.mark.parametrize("options", [{"max_turns": 3}, {"completion_params": {"temperature": 1.0}}])
    def test_changes_with_the_settings(self, directory: Path, dataset: Path, options: dict[str, Any]) -> None:
        plain, other = McpTask(directory, dataset, ()), McpTask(directory, dataset, (), **options)
        assert plain.spec.fingerprint != other.spec.fingerprint

    @pytest.mark.parametrize("options", [{"limit": 1}, {"offset": 1}, {"group_by": "topic"}])
    def test_does_not_change_with_the_choice_of_rows(
        self, directory: Path, dataset: Path, options: dict[str, Any]
    ) -> None:
        plain, other = McpTask(directory, dataset, ()), McpTask(directory, dataset, (), **options)
        assert plain.spec.fingerprint == other.spec.fingerprint

    @pytest.mark.parametrize("name", ["main", "beside", "text__words"])
    def test_changes_with_any_of_the_tools_files(
        self, tool_directory: Write, dataset: Path, name: str
    ) -> None:
        files = {"main": TOOLS, "beside": "", "text__words": ""}
        before = McpTask(tool_directory(**files), dataset, ()).spec.fingerprint
        files[name] += "# changed\n"
        assert McpTask(tool_directory(**files), dataset, ()).spec.fingerprint != before
