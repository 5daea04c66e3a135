"""The import paths that the Osmosis documents promise."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from benchwright.agents.rollout.loop import RolloutApp
from benchwright.errors import UserError

PROMISED = {
    "osmosis_ai": [
        *("RolloutAgentLoop", "RolloutContext", "RolloutResult", "create_app"),
        *("osmosis_reward", "osmosis_rubric", "evaluate_rubric"),
        *("MissingAPIKeyError", "ProviderRequestError", "ModelNotFoundError"),
    ],
    "osmosis_ai.rollout": [
        *("RolloutAgentLoop", "RolloutContext", "RolloutRequest", "RolloutResult", "RolloutMetrics"),
        *("OpenAIFunctionToolSchema", "OpenAIFunctionSchema", "OpenAIFunctionParametersSchema"),
        *("OpenAIFunctionPropertySchema", "CompletionsResult", "LLMClientProtocol", "create_app"),
        *("create_tool_result", "create_tool_error_result", "serialize_tool_result"),
        *("parse_tool_arguments", "get_tool_call_info", "execute_tool_calls"),
        *("OsmosisRolloutError", "OsmosisTransportError", "OsmosisTimeoutError", "OsmosisServerError"),
        *("OsmosisValidationError", "AgentLoopNotFoundError", "ToolExecutionError", "ToolArgumentError"),
        "set_max_metadata_size_bytes",
    ],
    "osmosis_ai.rollout.client": ["CompletionsResult"],
    "osmosis_ai.rollout.tools": ["create_tool_result", "execute_tool_calls"],
    "osmosis_ai.rollout.core.base": ["RolloutAgentLoop", "RolloutContext", "RolloutResult"],
    "osmosis_ai.rollout.core.exceptions": ["ToolArgumentError"],
    "osmosis_ai.rollout.core.schemas": ["OpenAIFunctionToolSchema", "RolloutRequest"],
}


@pytest.mark.parametrize("module", PROMISED)
def test_every_promised_name_is_there_and_public(module: str) -> None:
    imported = importlib.import_module(module)
    assert set(PROMISED[module]) <= set(imported.__all__)
    for name in imported.__all__:
        assert getattr(imported, name) is not None


@pytest.mark.parametrize("module", PROMISED)
def test_names_are_the_same_wherever_they_are_imported_from(module: str) -> None:
    rollout = importlib.import_module("osmosis_ai.rollout")
    imported = importlib.import_module(module)
    for name in set(imported.__all__) & set(rollout.__all__):
        assert getattr(imported, name) is getattr(rollout, name)


def test_the_hosted_judge_says_what_to_use_instead() -> None:
    from osmosis_ai import evaluate_rubric

    with pytest.raises(UserError, match=r"^evaluate_rubric asks the hosted judges .* --scorer judge "):
        evaluate_rubric("Is it polite?", "Hello.", {"provider": "openai"})


class TestCreateApp:
    """A user's server.py makes an application when it is imported; nothing here serves it."""

    @staticmethod
    def app(make_agent: Any = None) -> RolloutApp:
        from osmosis_ai.rollout import RolloutAgentLoop, create_app

        class Mine(RolloutAgentLoop):
            name = "mine"

            def get_tools(self, request: Any) -> list[Any]:
                return []

            async def run(self, ctx: Any) -> Any:
                return ctx.complete([])

        return create_app(Mine(), max_concurrent=4, debug_dir=None)

    async def test_a_server_that_starts_it_is_told_why_it_cannot(self) -> None:
        sent = []

        async def receive() -> dict[str, Any]:
            return {"type": "lifespan.startup"}

        async def send(event: dict[str, Any]) -> None:
            sent.append(event)

        await self.app()({"type": "lifespan"}, receive, send)
        (event,) = sent
        assert event["type"] == "lifespan.startup.failed"
        assert "the agent 'mine'" in event["message"]
        assert "benchwright eval" in event["message"]

    async def test_so_is_one_that_does_not_start_it_first(self) -> None:
        async def never(*args: Any) -> Any:
            raise AssertionError

        with pytest.raises(UserError, match="needs the extra `server`"):
            await self.app()({"type": "http"}, never, never)
