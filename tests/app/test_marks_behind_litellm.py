"""A simulated server behind LiteLLM's proxy is still known as one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.endpoint.test_marks import body_of, meter_of
from tests.environments import programs_of
from tests.real_servers import KEY, REAL_SERVER, running
from tests.simulated import simulated_endpoint

from benchwright.endpoint.access import Access
from benchwright.endpoint.client import EndpointClient
from benchwright.records import SIMULATED_FLAG, Target

pytestmark = REAL_SERVER

BEHIND = """
model_list:
  - model_name: openai
    litellm_params: {{model: openai/simulated, api_key: none, api_base: "{server}/v1"}}
  - model_name: vllm
    litellm_params: {{model: hosted_vllm/simulated, api_key: none, api_base: "{server}/v1"}}
  - model_name: completions
    litellm_params: {{model: text-completion-openai/simulated, api_key: none, api_base: "{server}/v1"}}
  - model_name: responses
    litellm_params: {{model: openai/responses/simulated, api_key: none, api_base: "{server}/v1"}}
  - model_name: anthropic
    litellm_params: {{model: anthropic/simulated, api_key: none, api_base: "{server}"}}
  - model_name: gemini
    litellm_params: {{model: gemini/simulated, api_key: none, api_base: "{server}/v1beta/models/simulated"}}
litellm_settings: {{telemetry: false}}
router_settings: {{num_retries: 0}}
general_settings: {{master_key: {key}}}
"""
"""The proxy asks the simulated server in each of its dialects."""

MODELS = ("openai", "vllm", "completions", "responses", "anthropic", "gemini")


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """LiteLLM's proxy in front of a simulated server."""
    directory = tmp_path_factory.mktemp("proxy")
    with simulated_endpoint() as base_url:
        configuration = Path(directory, "litellm.yaml")
        configuration.write_text(BEHIND.format(server=base_url.removesuffix("/v1"), key=KEY))
        with running(programs_of("litellm") / "litellm", directory, configuration) as proxy_url:
            yield proxy_url


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("model", MODELS)
async def test_chat_completions_are_marked_in_whatever_dialect_the_proxy_asks(
    proxy: str, model: str, stream: bool
) -> None:
    async with EndpointClient(Target("primary", model, proxy), access=Access(KEY), stream=stream) as client:
        reply = await client.ask(
            "/chat/completions", {"messages": [{"role": "user", "content": "Say this."}]}
        )
    assert reply.text == "Say this."
    assert SIMULATED_FLAG in reply.record.flags


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_completions_are_marked(proxy: str, stream: bool) -> None:
    async with EndpointClient(
        Target("primary", "completions", proxy), access=Access(KEY), stream=stream
    ) as client:
        reply = await client.ask("/completions", {"prompt": "Say this."})
    assert SIMULATED_FLAG in reply.record.flags


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
async def test_messages_are_marked_where_the_proxy_passes_them_on(proxy: str, stream: bool) -> None:
    asked = {
        "model": "anthropic",
        "stream": stream,
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "Hi"}],
    }
    body = await body_of(f"{proxy}/messages", asked, Authorization=f"Bearer {KEY}")
    assert meter_of("/v1/messages", body, stream=stream).is_simulated
