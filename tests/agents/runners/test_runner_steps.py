"""The first steps of the documented commands, for programs that take them themselves."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from benchwright.agents.runners.command_setup import (
    build_completion_params,
    create_llm_client,
    load_agent,
    load_dataset_rows,
)


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def said(console: Console) -> list[str]:
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined, no-any-return]


def test_only_what_was_given_becomes_a_parameter() -> None:
    assert build_completion_params(None, None) == {}
    assert build_completion_params(0.0, None) == {"temperature": 0.0}
    assert build_completion_params(0.7, 64) == {"temperature": 0.7, "max_tokens": 64}


class TestAgent:
    AGENT = """
from osmosis_ai.rollout import RolloutAgentLoop
class MyAgent(RolloutAgentLoop):
    name = "mine"
    def get_tools(self, request): return []
    async def run(self, ctx): return ctx.complete([])
"""

    def test_is_loaded_and_named(self, project: Any, console: Console) -> None:
        project("step_agent.py", self.AGENT)
        agent, error = load_agent("step_agent:MyAgent", quiet=False, console=console)
        assert agent is not None
        assert (agent.name, error) == ("mine", None)
        assert said(console) == ["Loading agent: step_agent:MyAgent", "  Agent name: mine"]

    def test_that_is_not_there_is_explained(self, project: Any, console: Console) -> None:
        project("step_agent_2.py", self.AGENT)
        agent, error = load_agent("step_agent_2:YourAgent", quiet=True, console=console)
        assert agent is None
        assert "has no attribute 'YourAgent'" in str(error)
        assert said(console) == []


class TestRows:
    @pytest.fixture
    def path(self, tmp_path: Path, make_rows: Any) -> str:
        path = tmp_path / "data.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in make_rows(5)))
        return str(path)

    @staticmethod
    def load(path: str, console: Console, limit: int | None = None, offset: int = 0) -> Any:
        return load_dataset_rows(
            path, limit, offset, False, console, empty_error="No rows.", action_label="testing"
        )

    def test_are_all_read(self, path: str, console: Console, make_rows: Any) -> None:
        assert self.load(path, console) == (make_rows(5), None)
        assert said(console) == [f"Loading dataset: {path}", "  Total rows: 5"]

    def test_or_a_part_of_them(self, path: str, console: Console, make_rows: Any) -> None:
        assert self.load(path, console, limit=2, offset=1) == (make_rows(5)[1:3], None)
        assert said(console)[-1] == "  Total rows: 5 (testing 2)"

    def test_none_is_an_error_of_the_commands_own_words(self, path: str, console: Console) -> None:
        assert self.load(path, console, offset=5) == (None, "No rows.")

    def test_what_is_wrong_with_them_is_explained(self, tmp_path: Path, console: Console) -> None:
        missing = str(tmp_path / "none.jsonl")
        assert self.load(missing, console) == (None, f"Dataset file not found: {missing}")


class TestClient:
    def test_at_an_address_needs_no_key(self, console: Console) -> None:
        client, error = create_llm_client("my-org/mine", None, "http://127.0.0.1:9/v1", False, console)
        assert client is not None
        assert (client.display_name, error) == ("my-org/mine", None)
        assert said(console) == ["Connecting to endpoint: http://127.0.0.1:9/v1", "  Model: my-org/mine"]

    @pytest.mark.parametrize(
        ("model", "base_url", "error"),
        [
            (" ", None, "Model cannot be empty. Pass a value with --model."),
            (
                "gpt-5-mini",
                None,
                "Missing API key for provider 'openai'. Set OPENAI_API_KEY or LITELLM_API_KEY, "
                "or pass --api-key.",
            ),
            ("mine", "localhost", "is not an http:// or https:// address"),
        ],
    )
    def test_what_is_wrong_with_it_is_explained(
        self, console: Console, model: str, base_url: str | None, error: str
    ) -> None:
        client, said = create_llm_client(model, None, base_url, True, console)
        assert client is None
        assert error in str(said)

    def test_openai_with_a_key_is_fine(self, console: Console) -> None:
        client, _ = create_llm_client("gpt-5-mini", "sk-given", None, False, console)
        assert client is not None
        assert said(console) == ["Initializing provider: openai", "  Model: gpt-5-mini"]

    def test_another_provider_without_litellm_is_explained(
        self, console: Console, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "litellm", None)
        client, error = create_llm_client("anthropic/claude-sonnet-4-5", "sk-given", None, True, console)
        assert client is None
        assert "pip install 'benchwright[litellm]'" in str(error)
